"""Noise that a user has marked: keys of blocks and of their shapes, which match the blocks with any figures.

A price, a version and a bare figure have no shape: marking "From $9" once must not silence every later price.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from actors.content.changes.weights import LETTERS, NUMBER, VERSION, names_currency
from actors.content.wording.canonical import canonical, key
from actors.content.wording.fingerprint import digest16


def noise_keys(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the keys that identify blocks with these texts, or with the same texts and other figures, as noise.

    A text has different keys inside and outside a table cell; the result contains both.
    """
    found: dict[str, None] = {}
    for text in texts:
        for cell in (False, True):
            found[key(text, cell=cell)] = None
            if shape := _shape(text, canonical(text, cell=cell)):
                found[shape] = None
    return tuple(found)


def is_noise(text: str, canonical_text: str, block_key: str, noise: Collection[str]) -> bool:
    return block_key in noise or _shape(text, canonical_text) in noise


def _shape(text: str, canonical_text: str) -> str:
    if names_currency(text) or VERSION.search(canonical_text) or not LETTERS.search(canonical_text):
        return ""
    shape, figures = NUMBER.subn("0", canonical_text)
    return digest16(f"noise {shape}") if figures else ""
