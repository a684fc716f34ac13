"""Untrusted text, made safe for one line or a terminal. Pure."""

from __future__ import annotations

import re

# C0, DEL, C1 (some terminals take a lone 0x9b for a CSI), line separators, and marks that reverse text direction.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    r"""Escape every character that moves the cursor, sets colours or breaks the line.

    >>> plain('a\nb\x1b[31m')
    'a\\nb\\x1b[31m'
    """
    return _UNSAFE.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
