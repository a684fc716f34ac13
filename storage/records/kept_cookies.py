"""Stored cookies and their age. Pure.

Several writers store a source's cookies without waiting for each other: its own checks, checks of sources that borrow
its headers, edits, other nodes. So each text carries its age, and only a younger one may overwrite another.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from storage.records.identity import SourceId

StoredJar: TypeAlias = tuple[SourceId, str]
"""A source and its cookies."""
_HEAD = re.compile(r"([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18})\n")


class Age(NamedTuple):
    """The age of cookies; the greater one is younger.

    given: how often the source's headers were set; cookies from earlier headers are obsolete. worked: checks that
    proved renewed cookies good; these win over unproven ones. turn: changes since the headers were set.
    """

    given: int = 0
    worked: int = 0
    turn: int = 0


_UNCHANGED = Age()


def parted(text: str) -> tuple[Age, str]:
    """Split stored cookies into age and value. The value is "" if none were renewed.

    >>> parted("1 2 5\\n[]"), parted("[]")
    ((Age(given=1, worked=2, turn=5), '[]'), (Age(given=0, worked=0, turn=0), '[]'))
    """
    head = _HEAD.match(text)
    return (_UNCHANGED, text) if head is None else (Age(*map(int, head.groups())), text[head.end() :])


def joined(age: Age, kept: str) -> str:
    """Prefix cookies with their age, unless it is zero: the headers were never changed and no cookie was renewed."""
    return f"{age.given} {age.worked} {age.turn}\n{kept}" if any(age) else kept


def is_younger(text: str, stored: str) -> bool:
    """Return whether cookies may overwrite the stored ones.

    >>> is_younger("0 1 2\\n[]", "0 0 9\\n[]"), is_younger("0 7 9\\n[]", "1 0 0\\n"), is_younger("[]", "[]")
    (True, False, False)
    """
    return parted(text)[0] > parted(stored)[0]
