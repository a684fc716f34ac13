"""Lists as pages show them: a part of one that is there as a whole, and the paths of its parts. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urlencode


class Named(Protocol):
    """What has an id."""

    @property
    def id(self) -> str:
        """Its id."""


R = TypeVar("R", bound=Named)


class Part(NamedTuple, Generic[R]):
    """Some rows of a list, the first at `start`. last: the id after which the next part begins, "" at the end."""

    rows: Sequence[R]
    start: int
    last: str


def part(rows: Sequence[R], after: str, most: int) -> Part[R]:
    """Return the part of a list that follows the row with this id; its beginning, when there is none."""
    start = next((at for at, row in enumerate(rows, 1) if row.id == after), 0)
    shown = rows[start : start + most]
    return Part(shown, start, shown[-1].id if start + len(shown) < len(rows) else "")


def address(path: str, **asked: str | int | None) -> str:
    """Return a path with what is asked of it.

    >>> address("/alerts", q="a b", after=""), address("/alerts", after=None)
    ('/alerts?q=a+b', '/alerts')
    """
    text = urlencode({name: value for name, value in asked.items() if value not in (None, "")})
    return f"{path}?{text}" if text else path


class Chip(NamedTuple):
    """One filter that holds: what it is called, what it is, and the path of the list without it. typed: by a person."""

    name: str
    value: str
    without: str
    typed: bool = False


def chips(path: str, asked: Mapping[str, str], named: Iterable[tuple[str, str, str]]) -> list[Chip]:
    """Return the filters that hold. named: each parameter, what it is called, and its value in words.

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
