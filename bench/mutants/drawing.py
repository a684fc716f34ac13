"""Draw mutants: list all possible ones of a room's files, and take so many, evenly from the rooms."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.mutants.kinds import Change, changes
from bench.mutants.rooms import ROOMS


@dataclass(frozen=True)
class Mutant:
    """One fault in one place. where: the qualified name of its function."""

    room: str
    path: str
    where: str
    change: Change

    @property
    def key(self) -> str:
        """Return its name, stable until the place is edited."""
        flat = " ".join(self.change.before.split())
        return f"{self.path}::{self.where} | {self.change.kind} | {flat} => {' '.join(self.change.after.split())}"

    def applied(self, text: str) -> str:
        """Return the file with the fault."""
        raw = text.encode()
        return (raw[: self.change.start] + self.change.after.encode() + raw[self.change.end :]).decode()


def files_of(room: str, root: Path) -> Sequence[str]:
    """Return the Python files of a room, relative to the root."""
    found: list[str] = []
    for name in ROOMS[room]:
        paths = sorted((root / name).rglob("*.py")) if (root / name).is_dir() else [root / name]
        found += [path.relative_to(root).as_posix() for path in paths]
    return found


def mutants_of(room: str, path: str, text: str) -> Iterator[Mutant]:
    for change, where in changes(ast.parse(text), text):
        yield Mutant(room, path, where, change)


def is_another(text: str, mutant: Mutant) -> bool:
    """Return whether a mutant is valid Python and differs from the file."""
    try:
        return ast.dump(ast.parse(text)) != ast.dump(ast.parse(mutant.applied(text)))
    except SyntaxError:
        return False


def drawn(count: int, seed: int, root: Path, only: Sequence[str] = ()) -> list[Mutant]:
    """Return so many distinct mutants, from the rooms in turn, and within a room from the kinds in turn.

    Deterministic for equal sources. Fewer if there are no more.
    """
    chance = random.Random(seed)
    names = list(only or ROOMS)
    piles = {room: _dealt(room, root, chance) for room in names}
    taken: dict[tuple[str, int, str], Mutant] = {}
    while len(taken) < count and any(piles.values()):
        for room in names:
            while piles[room] and len(taken) < count:
                mutant = piles[room].pop()
                place = (mutant.path, mutant.change.start, mutant.change.after)
                if place not in taken and is_another((root / mutant.path).read_text("utf-8"), mutant):
                    taken[place] = mutant
                    break
    return list(taken.values())


def _dealt(room: str, root: Path, chance: random.Random) -> list[Mutant]:
    """Return a room's mutants in popping order: kinds in turn, each kind shuffled."""
    by_kind: dict[str, list[Mutant]] = {}
    for path in files_of(room, root):
        for mutant in mutants_of(room, path, (root / path).read_text("utf-8")):
            by_kind.setdefault(mutant.change.kind, []).append(mutant)
    for pile in by_kind.values():
        chance.shuffle(pile)
    kinds = sorted(by_kind)
    chance.shuffle(kinds)
    rounds = max(map(len, by_kind.values()), default=0)
    return [by_kind[kind][n] for n in range(rounds) for kind in kinds if n < len(by_kind[kind])][::-1]
