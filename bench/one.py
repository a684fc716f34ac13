"""`python -m bench.one NAME`: run a benchmark here, and print each record as a line of JSON.

Other modules use `run`, which starts a separate interpreter: benchmarks share neither memory nor settings, and a
failing one ends alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from bench.topic import ROOT, Absent, Record, Topic

PATIENCE = 600.0
"""Seconds after which a benchmark in its short form counts as hanging."""


class Result(NamedTuple):
    """absent: what the machine lacks. error: a failed benchmark's traceback."""

    title: str = ""
    method: str = ""
    records: Sequence[Record] = ()
    absent: str = ""
    error: str = ""


def names() -> list[str]:
    """Return the benchmarks in this folder."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if "\nTOPIC = " in path.read_text("utf-8"))


def topic_of(name: str) -> Topic:
    topic: Topic = import_module(f"bench.{name}").TOPIC
    return topic


def run(
    name: str, *, root: Path = ROOT, python: str = sys.executable, short: bool = False, named: bool = True
) -> Result:
    """Run a benchmark of a checkout. named: even one that takes hours."""
    flags = {"BENCH_SHORT": "1" if short else "", "BENCH_NAMED": "1" if named else ""}
    variables = {**os.environ, **flags}  # noqa: TID251
    command = [python, "-m", "bench.one", name]
    patience = PATIENCE if short else None
    try:
        done = subprocess.run(
            command, cwd=root, env=variables, capture_output=True, text=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired:
        return Result(error=f"{name} did not end within {PATIENCE:.0f} s")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    texts = {key: text for line in lines for key, text in line.items() if len(line) < len(Record._fields)}
    records = [Record(**line) for line in lines if len(line) == len(Record._fields)]
    error = (done.stderr or f"exit code {done.returncode}") if done.returncode else ""
    return Result(**texts, records=records, error=error)


def main(name: str) -> None:
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)  # other output must not mix with the records

        def say(**fields: object) -> None:
            print(json.dumps(fields), file=out, flush=True)

        topic = topic_of(name)
        say(title=topic.title, method=topic.method)
        left = dict(topic.figures)
        if topic.hours and not os.environ.get("BENCH_NAMED"):  # noqa: TID251
            say(absent=f"it takes an hour or more: make bench WHAT={name}")
            return
        try:
            for key, ours, limit, note in import_module(f"bench.{name}").rows():
                figure = left.pop(key)
                met = figure.met(ours, limit)
                record = Record(figure.name, figure.unit, figure.goal, figure.rises, met, ours, limit, note)
                say(**record._asdict())
        except Absent as lacking:
            say(absent=str(lacking))
            return
        if left:
            sys.exit(f"bench: {name} gave no row of: {', '.join(figure.name for figure in left.values())}")


if __name__ == "__main__":
    main(sys.argv[1])
