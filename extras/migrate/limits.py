"""Limits of a source's texts, and how to shorten longer ones. Pure."""

from __future__ import annotations

import re
from typing import Final

from extras.migrate.plan import shortened
from storage.records.source import OWN_NAMESPACES

LONGEST_TITLE: Final = 200
LONGEST_TAG: Final = 100
MOST_TAGS: Final = 50
LONGEST_SELECTOR: Final = 1000
MOST_IGNORED: Final = 50
SHORTEST, LONGEST = 60, 7 * 86400
"""Limits of a schedule, in seconds between checks."""
_TAG = re.compile(r"[a-z0-9_-]+:\S.*")


def tag_of(word: str) -> str:
    """Turn another program's tag, group or folder into a tag.

    >>> tag_of("Tides: north"), tag_of("topic:tides"), tag_of("kind:x")
    ('Tides north', 'topic:tides', 'kind x')
    """
    line = " ".join(word.split())
    if not (_TAG.fullmatch(line) and line.partition(":")[0] not in OWN_NAMESPACES):
        line = " ".join(line.replace(":", " ").split())
    return shortened(line, LONGEST_TAG)


def without_password(url: str) -> str:
    """Remove user and password from a URL.

    >>> without_password("https://me:secret@example.org/feed")
    'https://…@example.org/feed'
    >>> without_password("me:se@cret@example.org/feed")
    '…@example.org/feed'
    """
    return re.sub(r"(^|//)[^/?#]*@", r"\1…@", url, count=1)
