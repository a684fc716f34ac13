"""Nodes of a parsed query: frozen, comparable, printable as understood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from actors.query import words
from actors.query.conditions import Condition


@dataclass(frozen=True, slots=True)
class Word:
    """A word, matched by any of its keys."""

    text: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a word, without accents; it matches whole words, not stems."""

    text: str

    def __str__(self) -> str:
        return f"{self.text}*"


Unit = Word | Prefix
Path = tuple[Unit, ...]
Step = tuple[Path, ...]
"""Alternative readings of one step of a phrase: (("e", "post"), ("epost",))."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in a row."""

    steps: tuple[Step, ...]

    def __str__(self) -> str:
        # Words that may be joined keep their hyphen: "e-post" and not "e post".
        words = (("-" if len(step) > 1 else " ").join(str(unit) for unit in step[0]) for step in self.steps)
        return f'"{" ".join(words)}"'


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; without parts, everything matches."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Any | All) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Any:
    """One part holds."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return " OR ".join(f"({part})" if isinstance(part, Any) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Node

    def __str__(self) -> str:
        grouped = isinstance(self.part, Any | All | Not) or (isinstance(self.part, Condition) and self.part.places)
        return f"-({self.part})" if grouped else f"-{self.part}"


Node = Word | Prefix | Phrase | Condition | All | Any | Not

Term = Word | Prefix | Phrase | Condition


def leaves(node: Node) -> Iterator[Term]:
    """Yield every word, prefix, phrase and condition of a query in order, also excluded ones."""
    match node:
        case Not(part):
            yield from leaves(part)
        case All(parts) | Any(parts):
            for part in parts:
                yield from leaves(part)
        case _:
            yield node


def units(node: Node) -> Iterator[Unit]:
    for leaf in leaves(node):
        if isinstance(leaf, Phrase):
            yield from (unit for step in leaf.steps for path in step for unit in path)
        elif not isinstance(leaf, Condition):
            yield leaf


def terms(node: Node) -> Iterator[Term]:
    """Yield the words, prefixes and phrases of a query in order, without the excluded ones."""
    match node:
        case Word() | Prefix() | Phrase() | Condition():
            yield node
        case Not():
            return
        case All((Phrase() as row, *needs)) if needs and all(map(_is_pair, needs)):
            yield row  # it contains whatever else a run of an unspaced script needs
        case All(parts) | Any(parts):
            for part in parts:
                yield from terms(part)
        case _:
            assert_never(node)


def _is_pair(node: Node) -> bool:
    return isinstance(node, Word) and len(node.text) == 2 and words.unspaced(node.text)


def has_conditions(node: Node) -> bool:
    return any(isinstance(leaf, Condition) for leaf in leaves(node))


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. text: as typed. `str(query)`: as understood."""

    text: str
    language: str
    root: Node

    def __str__(self) -> str:
        return str(self.root)
