"""Cookies as they are stored: their age, and what they are. Pure.

A source's cookies are written by several who do not wait for one another: looks of the source, of those that are lent
its headers, edits, other nodes. So each text says how old it is, and a younger one alone may be written over another.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from storage.records.identity import SourceId

StoredJar: TypeAlias = tuple[SourceId, str]
"""Whose cookies, and what they are."""
_HEAD = re.compile(r"([0-9]{1,18}) ([0-9]{1,18}) ([0-9]{1,18})\n")


class Age(NamedTuple):
    """How young cookies are; the greater is the younger.

    given: how often the source was given other headers: what grew from the earlier ones is over. worked: looks that
    have shown renewed cookies to be good: what nobody is sure of is older than that. turn: changes since the headers
    were given.
    """

    given: int = 0
    worked: int = 0
    turn: int = 0


_UNCHANGED = Age()


def parted(text: str) -> tuple[Age, str]:
    """Return the age of cookies and what they are, "" where nothing was renewed.

    >>> parted("1 2 5\\n[]"), parted("[]")
    ((Age(given=1, worked=2, turn=5), '[]'), (Age(given=0, worked=0, turn=0), '[]'))
    """
    head = _HEAD.match(text)
    return (_UNCHANGED, text) if head is None else (Age(*map(int, head.groups())), text[head.end() :])


def joined(age: Age, kept: str) -> str:
    """Return cookies as they are stored; "" for those of headers that were never changed or renewed."""
    return f"{age.given} {age.worked} {age.turn}\n{kept}" if any(age) else kept


def is_younger(text: str, stored: str) -> bool:
    """Return whether cookies may be written over those that are stored.

    >>> is_younger("0 1 2\\n[]", "0 0 9\\n[]"), is_younger("0 7 9\\n[]", "1 0 0\\n"), is_younger("[]", "[]")
    (True, False, False)
    """
    return parted(text)[0] > parted(stored)[0]
