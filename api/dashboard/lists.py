"""Lists on pages: slices of complete lists, and the paths of pages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urlencode


class Named(Protocol):
    """A record with an id."""

    @property
    def id(self) -> str:
        """The record's id."""


R = TypeVar("R", bound=Named)


class Part(NamedTuple, Generic[R]):
    """A slice of a list. start: its first row's index. last: the id that the next slice follows, "" at the end."""

    rows: Sequence[R]
    start: int
    last: str


def part(rows: Sequence[R], after: str, most: int) -> Part[R]:
    """Return the slice after the row with this id, or from the beginning if there is none."""
    start = next((at for at, row in enumerate(rows, 1) if row.id == after), 0)
    shown = rows[start : start + most]
    return Part(shown, start, shown[-1].id if start + len(shown) < len(rows) else "")


def address(path: str, **asked: str | int | None) -> str:
    """Return a path with a query.

    >>> address("/alerts", q="a b", after=""), address("/alerts", after=None)
    ('/alerts?q=a+b', '/alerts')
    """
    text = urlencode({name: value for name, value in asked.items() if value not in (None, "")})
    return f"{path}?{text}" if text else path


class Chip(NamedTuple):
    """An active filter: its name, its value, and the list's path without it. typed: entered by a person."""

    name: str
    value: str
    without: str
    typed: bool = False


def chips(path: str, asked: Mapping[str, str], named: Iterable[tuple[str, str, str]]) -> list[Chip]:
    """Return the active filters. named: each parameter, its label, and its value as text.

    >>> chips("/alerts", {"q": "a", "state": "on"}, [("q", "Words", "a"), ("tag", "Tag", "")])
    [Chip(name='Words', value='a', without='/alerts?state=on', typed=True)]
    """
    return [
        Chip(
            name,
            words,
            address(path, **{key: value for key, value in asked.items() if key != parameter}),
            typed=words == asked[parameter],
        )
        for parameter, name, words in named
        if asked.get(parameter)
    ]
