"""The prolog before the first element: white space, byte order mark, declarations, comments, doctype.

Scanned by hand in one pass: patterns for comments and doctypes turn quadratic on hostile input.
"""

from __future__ import annotations

import re

_BLANK = re.compile(r"[\s\ufeff\x00]*")
_LONGEST = 512 * 1024


def end_of_prolog(text: str) -> int:
    """Return the position of the first character after the prolog (the first element, or junk).

    >>> end_of_prolog('<?xml version="1.0"?><!-- a --> <rss>')
    32
    """
    position = 0
    while position < _LONGEST:
        blank = _BLANK.match(text, position)
        position = blank.end() if blank else position
        if text.startswith("<?", position):
            end = _after(text, "?>", position)
        elif text.startswith("<!--", position):
            end = _after(text, "-->", position)
        elif text[position : position + 9].lower() == "<!doctype":
            end = _end_of_doctype(text, position)
        else:
            break
        if end is None:
            break
        position = end
    return position


def _after(text: str, mark: str, position: int) -> int | None:
    """Return the position after the next mark, None if there is none."""
    found = text.find(mark, position)
    return None if found < 0 else found + len(mark)


def _end_of_doctype(text: str, position: int) -> int | None:
    close = _after(text, ">", position)
    subset = _after(text, "[", position)
    if close is None or subset is None or subset > close:
        return close
    end = _after(text, "]", subset)
    return None if end is None else _after(text, ">", end)
