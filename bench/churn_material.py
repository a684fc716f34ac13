"""Histories of real pages for `bench.churn`: a manifest of labelled pairs, and their pages.

A folder has `manifest.jsonl` (per line: id, page, family, kind, label, labelled, reason, before, after, history) and
the files it names, or `pages.tar.xz` with them, in the order of their folders.
"""

from __future__ import annotations

import json
import random
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct, convert

from bench.topic import MATERIAL

DEFAULT = MATERIAL / "pages"
_FOLDS_SEED, _SPLIT_SEED = 5, 11


class Pair(Struct, frozen=True):
    """Two versions of a page, the versions before them, and a reader's label for the difference."""

    id: str
    page: str
    site: str
    family: str
    kind: str
    label: str
    labelled: str
    reason: str
    before: str
    after: str
    history: tuple[str, ...]
    mutators: tuple[str, ...] = ()

    @property
    def real(self) -> bool:
        return self.label == "real"


def pairs_of(folder: Path) -> list[Pair]:
    """Return the labelled pairs; the reader was undecided on the others."""
    lines = (folder / "manifest.jsonl").read_text("utf-8").splitlines()
    pairs = [convert(json.loads(line), Pair) for line in lines]
    return [pair for pair in pairs if pair.label != "ambiguous"]


def histories(folder: Path, pairs: Sequence[Pair]) -> Iterator[tuple[list[Pair], Mapping[str, bytes]]]:
    """Yield each page's pairs with their bodies, one page at a time to save memory."""
    by_page: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_page[pair.page].append(pair)
    for page, bodies in _folders(folder, by_page):
        if page in by_page:
            yield by_page.pop(page), bodies
            if not by_page:
                return
    if by_page:
        raise SystemExit(f"bench: the folder lacks {len(by_page)} of the manifest's pages, first {min(by_page)}")


def _folders(folder: Path, wanted: Mapping[str, object]) -> Iterator[tuple[str, dict[str, bytes]]]:
    packed = folder / "pages.tar.xz"
    if not packed.exists():
        for page in sorted(wanted):
            yield page, {f"{page}/{path.name}": path.read_bytes() for path in sorted((folder / page).glob("*"))}
        return
    with tarfile.open(packed, "r|xz") as archive:
        files = (member for member in archive if member.isfile())
        for page, members in groupby(files, lambda member: member.name.removeprefix("./").split("/")[0]):
            bodies = {}
            for member in members:
                handle = archive.extractfile(member)
                if page in wanted and handle is not None:
                    bodies[member.name.removeprefix("./")] = handle.read()
            yield page, bodies


def folds(pairs: Sequence[Pair], count: int) -> list[list[Pair]]:
    """Return the pairs in so many parts; no family is in two."""
    return _dealt(pairs, count, _FOLDS_SEED)


def halves(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Return the half whose misses may be read while rules are improved, and the half for testing."""
    held_out, tuning = _dealt(pairs, 2, _SPLIT_SEED)
    return tuning, held_out


def _dealt(pairs: Sequence[Pair], count: int, seed: int) -> list[list[Pair]]:
    """Deal families like cards, those with the most labelled pairs first, for parts of equal size."""
    families: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        families[pair.family].append(pair)
    names = sorted(families)
    random.Random(seed).shuffle(names)
    names.sort(key=lambda name: -sum(pair.labelled == "read" for pair in families[name]))
    parts: list[list[Pair]] = [[] for _ in range(count)]
    for name in names:
        min(parts, key=lambda part: (sum(pair.labelled == "read" for pair in part), len(part))).extend(families[name])
    return parts
