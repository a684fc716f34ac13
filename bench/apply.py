"""Configuration as files: `sanderling apply --plan` over 10,000 sources, the whole command from start to end.

A real service has all of them, equal or nearly equal to the files. The limit is Python's TOML parser on the same file:
no reader can be faster.
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
from typing import NamedTuple

from bench.topic import Figure, Row, Topic, size
from tests.api.browser.service import ENVIRONMENT, a_service
from tests.support.library import a_source, fill

COUNT, TIMES, CHANGED = size(10_000, 200), size(5, 1), 100
TOPIC = Topic(
    "Configuration as files",
    "`sanderling apply --plan` over 10,000 sources, the whole command, the slowest but one of five; the limit is "
    "tomllib on the same file.",
    ("extras/apply", "sanderling/client", "api/nouns", "actors/sources"),
    {
        "nothing": Figure("plan of 10,000 sources, nothing to do", "s", "<= 2 s"),
        "nothing_command": Figure("processor time of the command", "s"),
        "nothing_service": Figure("processor time of the service", "s"),
        "some": Figure("plan of 10,000 sources, 100 to change", "s", "<= 2 s"),
        "some_command": Figure("processor time of the command, 100 to change", "s"),
        "some_service": Figure("processor time of the service, 100 to change", "s"),
    },
)
WORKSPACE = "library"


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        data, same, other = Path(place, "data"), Path(place, "same"), Path(place, "other")
        fill(data, COUNT, workspace=WORKSPACE)
        _write(same, changed=0)
        _write(other, changed=CHANGED)
        with a_service(data):
            limit = _slowest(lambda: tomllib.loads((same / "sources.toml").read_text("utf-8")))
            for key, folder, says in (
                ("nothing", same, "Nothing to do"),
                ("some", other, f"{CHANGED} to change"),
            ):
                took = _slowest(lambda folder=folder, says=says: _plan(data, folder, says))  # type: ignore[misc]
                yield Row(key, took.wall, limit.wall)
                yield Row(f"{key}_command", took.ours)
                yield Row(f"{key}_service", took.services)


class Took(NamedTuple):
    """Seconds of wall time, and of processor time: this process with its commands, and the service."""

    wall: float
    ours: float
    services: float


def _plan(data: Path, folder: Path, says: str) -> None:
    command = [sys.executable, "-m", "sanderling", "apply", "--plan", str(folder), "--data", str(data)]
    done = subprocess.run(command, check=False, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and says in done.stdout, done.stdout[-300:] + done.stderr


def _slowest(run: Callable[[], object]) -> Took:
    """Return the second slowest run, after an uncounted one."""
    took = []
    for _ in range(TIMES + 1):
        before = _now()
        run()
        took.append(Took(*(after - then for after, then in zip(_now(), before, strict=True))))
    return sorted(took[1:])[-2:][0]


def _now() -> Took:
    """Return the clock and processor times so far: ours with ended children, and running children."""
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
