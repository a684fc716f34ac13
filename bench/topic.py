"""A benchmark's declaration: a topic with its figures. `size` chooses a load's size, `Row` is a measured figure.

A benchmark is a module in this folder with `TOPIC` and a generator `rows()`. It measures its limit (a peer, or the bare
machinery) in the same run. `bench.one` runs it in a separate interpreter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parents[1]
MATERIAL = ROOT.parent / "shared" / "data"
SHORT = os.environ.get("BENCH_SHORT") == "1"  # noqa: TID251  processes that a benchmark starts inherit it
_CLAUSE = re.compile(r"(<=|>=) ([\d,.]+) ?(x\b)?")
T = TypeVar("T")


def size(full: T, short: T) -> T:
    """Return the size of a load: the short form only proves that a benchmark runs."""
    return short if SHORT else full


class Absent(Exception):
    """The machine lacks a program or data that the rest of a benchmark needs; the text names it."""


class Figure(NamedTuple):
    """goal: clauses such as `<= 12 KB`, or `>= 0.6 x bare httpx` for the ratio to the limit."""

    name: str
    unit: str = ""
    goal: str = ""
    higher: bool = False
    """Whether more is better, if no goal implies it."""

    @property
    def clauses(self) -> Iterator[re.Match[str]]:
        for text in self.goal.split(", ") if self.goal else ():
            found = _CLAUSE.match(text)
            assert found, f"{self.name}: no goal: {text}"
            yield found

    @property
    def rises(self) -> bool:
        return next((clause[1] == ">=" for clause in self.clauses), self.higher)

    def met(self, ours: float, limit: float | None) -> bool:
        for sign, number, times in (clause.groups() for clause in self.clauses):
            assert limit is not None or not times, f"{self.name}: no limit for the goal"
            reached = ours / (limit or 1e-9) if times else ours
            bound = float(number.replace(",", ""))
            if reached < bound if sign == ">=" else reached > bound:
                return False
        return True


class Topic(NamedTuple):
    """A table of docs/figures.md. method: one sentence. paths: the product that it measures."""

    title: str
    method: str
    paths: tuple[str, ...]
    figures: Mapping[str, Figure]
    hours: bool = False
    """Takes hours, so only its name runs it, or the short form."""


class Row(NamedTuple):
    """A measured figure in its unit, by its key in the topic's figures."""

    key: str
    ours: float
    limit: float | None = None
    note: str = ""


class Record(NamedTuple):
    """A row and its figure, as passed between processes."""

    figure: str
    unit: str
    goal: str
    rises: bool
    met: bool
    ours: float
    limit: float | None
    note: str

    @property
    def ratio(self) -> float | None:
        return self.ours / self.limit if self.limit else None

    def text(self, value: float | None) -> str:
        """Return a value with its unit.

        >>> Record("", "us", "", False, True, 0, None, "").text(1234.5)
        '1,234 us'
        >>> Record("", "/s", "", True, True, 0, None, "").text(0.04567)
        '0.0457/s'
        """
        if value is None:
            return ""
        digits = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
        return digits + ("" if self.unit in ("", "/s") else " ") + self.unit
