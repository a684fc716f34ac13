"""What may stand before the first element: white space, a byte order mark, declarations, comments, a document type.

Scanned by hand in one pass, because patterns for comments and document types go quadratic on hostile input.
"""

from __future__ import annotations

import re

_BLANK = re.compile(r"[\s\ufeff\x00]*")
_LONGEST = 512 * 1024


def end_of_prolog(text: str) -> int:
    """Return the position of the first character that is part of no prolog (the first element, or junk).

    >>> end_of_prolog('<?xml version="1.0"?><!-- a --> <rss>')
    32
    """
    position = 0
    while position < _LONGEST:
        blank = _BLANK.match(text, position)
        position = blank.end() if blank else position
        if text.startswith("<?", position):
            end = text.find("?>", position) + 2
        elif text.startswith("<!--", position):
            end = text.find("-->", position) + 3
        elif text[position : position + 9].lower() == "<!doctype":
            end = _end_of_doctype(text, position)
        else:
            break
        if end < position:  # never closed
            break
        position = end
    return position


def _end_of_doctype(text: str, position: int) -> int:
    close = text.find(">", position)
    bracket = text.find("[", position)
    if -1 < bracket < close:
        close = text.find(">", max(position, text.find("]", bracket)))
    return close + 1
