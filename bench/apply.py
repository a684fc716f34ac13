"""Configuration as files: `sanderling apply --plan` over 10,000 sources, the whole command from its start to its end.

A real service has all of them, as the files say or nearly so. The limit beside it is Python's own TOML parser on the
same file: nothing that reads it can be faster. Beside the time on the clock stands the processor time of the command
and of the service, which work side by side: it does not grow when others use the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.api.browser.service import ENVIRONMENT, a_service
from tests.support.library import a_source, fill

COUNT, TIMES, CHANGED = 10_000, 5, 100
GOAL_S = 2.0
WORKSPACE = "library"


def rows() -> list[dict[str, Any]]:
    """Return the measured rows."""
    with tempfile.TemporaryDirectory() as place:
        data, same, other = Path(place, "data"), Path(place, "same"), Path(place, "other")
        fill(data, COUNT, workspace=WORKSPACE)
        _write(same, changed=0)
        _write(other, changed=CHANGED)
        with a_service(data):
            limit = _slowest(lambda: tomllib.loads((same / "sources.toml").read_text("utf-8")))
            nothing = _slowest(lambda: _plan(data, same, "Nothing is to be done"))
            some = _slowest(lambda: _plan(data, other, f"{CHANGED} to change"))
            return [
                _row("nothing to do", nothing, limit),
                _row(f"{CHANGED} to change", some, limit),
            ]


class Took(NamedTuple):
    """Seconds on the clock, and of processor time: of this process and its commands, and of the service."""

    wall: float
    ours: float
    services: float


def _row(name: str, took: Took, limit: Took) -> dict[str, Any]:
    worked = f"processor time {took.ours:.2f} the command, {took.services:.2f} the service"
    return {
        "figure": f"plan of {COUNT:,} sources, {name}: the whole command, s ({worked})",
        "goal": f"<= {GOAL_S:.0f}",
        "limit": f"{limit.wall:.2f} (tomllib alone)",
        "ours": f"{took.wall:.2f}",
        "ratio": took.wall / limit.wall,
        "met": took.wall <= GOAL_S,
    }


def _plan(data: Path, folder: Path, says: str) -> None:
    command = [sys.executable, "-m", "sanderling", "apply", "--plan", str(folder), "--data", str(data)]
    done = subprocess.run(command, check=False, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and says in done.stdout, done.stdout[-300:] + done.stderr


def _slowest(run: Callable[[], object]) -> Took:
    """Return what the slowest run but one took, after one that nobody counts."""
    took = []
    for _ in range(TIMES + 1):
        before = _now()
        run()
        took.append(Took(*(after - then for after, then in zip(_now(), before, strict=True))))
    return sorted(took[1:])[-2]


def _now() -> Took:
    """Return the clock, and the processor time so far: ours and of children that have ended; of those that run."""
    spent, running = os.times(), 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                running += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return Took(time.perf_counter(), sum(spent[:4]), running)


def _write(folder: Path, changed: int) -> None:
    folder.mkdir()
    lines = [line for number in range(COUNT) for line in _table(number, changed)]
    (folder / "sources.toml").write_text("\n".join([f'workspace = "{WORKSPACE}"', *lines]), "utf-8")


def _table(number: int, changed: int) -> Iterator[str]:
    source, _ = a_source(number, 0, ("label:library",))  # type: ignore[arg-type]
    yield f"\n[sources.site-{number}]"
    yield f'url = "{source.url}"'
    tags = ", ".join(f'"{tag}"' for tag in source.tags)
    yield f"tags = [{tags}]"
    if number < changed:
        yield 'schedule = "1h"'
