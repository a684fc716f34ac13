"""Text search as people expect it. Imports no parser: the service searches stored texts."""

from __future__ import annotations

import unicodedata

_WHOLE = 20


def folded(text: str) -> str:
    """Fold text for search: no case, no accents, white space as one blank.

    >>> folded("  Ça\u00a0coûte ") == folded("ca coute")
    True
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(text.casefold().split())


def holds(text: str, wanted: str) -> bool:
    """Whether a text contains the wanted one (already folded), or is a long part of it."""
    here = folded(text)
    return bool(wanted) and (wanted in here or (len(here) >= _WHOLE and here in wanted))
