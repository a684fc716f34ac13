"""Text of strangers, as it may stand in a line or on a terminal. Pure."""

from __future__ import annotations

import re

# C0, DEL, C1 (a lone 0x9b is a CSI to some terminals), the line separators, and what reverses the direction of text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    r"""Return text with everything that moves, colours or breaks a line written as an escape.

    >>> plain('a\nb\x1b[31m')
    'a\\nb\\x1b[31m'
    """
    return _UNSAFE.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
