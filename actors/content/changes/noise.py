"""Noise that a user has marked: keys of blocks, and of their shapes, so that other figures in them are noise too.

A price, a version and a bare figure have no shape: "From $9" marked once must not silence every later price.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from actors.content.changes.weights import LETTERS, NUMBER, VERSION, names_currency
from actors.content.wording.canonical import canonical, key
from actors.content.wording.fingerprint import digest16


def noise_keys(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the keys by which blocks with these texts, and those that differ in figures only, are known as noise.

    A text may stand in a table cell or not, and its key differs; both are returned.
    """
    found: dict[str, None] = {}
    for text in texts:
        for cell in (False, True):
            found[key(text, cell=cell)] = None
            if shape := _shape(text, canonical(text, cell=cell)):
                found[shape] = None
    return tuple(found)


def is_noise(text: str, canonical_text: str, block_key: str, noise: Collection[str]) -> bool:
    """Return whether a block is noise by its key or by its shape."""
    return block_key in noise or _shape(text, canonical_text) in noise


def _shape(text: str, canonical_text: str) -> str:
    if names_currency(text) or VERSION.search(canonical_text) or not LETTERS.search(canonical_text):
        return ""
    shape, figures = NUMBER.subn("0", canonical_text)
    return digest16(f"noise {shape}") if figures else ""
