"""Texts as people look for them. Imports no parser: the service searches what it has stored."""

from __future__ import annotations

import unicodedata

_WHOLE = 20


def folded(text: str) -> str:
    """Return text as people look for it: without case and accents, white space as one blank.

    >>> folded("  Ça\u00a0coûte ") == folded("ca coute")
    True
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(text.casefold().split())


def holds(text: str, wanted: str) -> bool:
    """Return whether a text has the wanted one, folded already, or is a whole part of it."""
    here = folded(text)
    return bool(wanted) and (wanted in here or (len(here) >= _WHOLE and here in wanted))
