"""Judge a release's files by its signed sums. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Lies(Enum):
    """The problem with a path that is not a regular file."""

    NOTHING = "is missing"
    LINK = "is a link, and what it leads to may change after the check"
    OTHER = "is no file"
    UNREADABLE = "can't be read"


class Finding(NamedTuple):
    """One file's result. well: as released."""

    file: str
    well: bool
    why: str


def judged(sums: Mapping[str, str], found: Mapping[str, str | Lies], *, whole: bool) -> list[Finding]:
    """Return a finding per file, sorted by name. found: each SHA-256, or the problem.

    whole: `found` is a whole folder, so its absent files are missing.
    """
    names = {*found, *sums} if whole else {*found}
    return [Finding(name, *_verdict(sums.get(name), found.get(name, Lies.NOTHING))) for name in sorted(names)]


def _verdict(wanted: str | None, there: str | Lies) -> tuple[bool, str]:
    if wanted is None:
        return False, "is not one of the release's files"
    if isinstance(there, Lies):
        return False, there.value
    if there != wanted:
        return False, f"is another file than the one released: its SHA-256 is {there}"
    return True, "is as it was released"
