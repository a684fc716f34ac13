"""Hashes of content: exact (`content_hash`) and of likeness (`simhash`)."""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from array import array
from functools import lru_cache

SIMHASH_VERSION = 1
"""Part of the event schema: changes when the words, the shingles or the hash of `simhash` do."""

BITS = 53
"""An integer that JavaScript and RFC 8785 keep exact."""

_SHINGLE = 3
_MOST_WORDS = 20_000
_MASK = (1 << 64) - 1
# Odd constants (the golden ratio's and two primes') make a shingle's hash depend on the order of its words.
_FIRST, _SECOND, _THIRD = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_WORD = re.compile(r"\w+")
# For each bit of a byte: a table that maps a byte to 1 where that bit is set.
_BIT_TABLES = tuple(bytes(byte >> bit & 1 for byte in range(256)) for bit in range(8))


def content_hash(text: str) -> str:
    """Return `sha256:<hex>` of the NFC form of the uncut text.

    >>> content_hash("")[:15]
    'sha256:e3b0c442'
    """
    return "sha256:" + hashlib.sha256(unicodedata.normalize("NFC", text).encode("utf-8", "replace")).hexdigest()


def digest16(text: str) -> str:
    """Return 64 bits of BLAKE2b as 16 hex digits: the short key of blocks and entries."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def simhash(text: str) -> int:
    """Return 53 bits of likeness over 3-word shingles (Charikar 2002), 0 for text without words.

    Two texts whose values differ in at most 3 bits are the same for a reader, up to 10 related. For grouping only: most
    small real edits leave it untouched, so it must never decide whether something changed.
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())[:_MOST_WORDS]
    if not words:
        return 0
    hashes = [_word_hash(word) for word in words]
    hashes += [(0, 0, 0)] * (_SHINGLE - len(hashes))
    triples = zip(hashes, hashes[1:], hashes[2:], strict=False)
    shingles = array("Q", [(a[0] + b[1] + c[2]) & _MASK for a, b, c in triples])
    columns = [shingles.tobytes()[byte::8] for byte in range(8)]
    if sys.byteorder == "big":
        columns.reverse()
    value = 0
    # Counting column by column with translate and count keeps the 53 sums out of the interpreter's loop.
    for bit in range(BITS):
        place = bit + 64 - BITS  # the low bits of a product are its weakest
        ones = columns[place >> 3].translate(_BIT_TABLES[place & 7]).count(1)
        value |= (2 * ones > len(shingles)) << bit
    return value


@lru_cache(maxsize=8192)
def _word_hash(word: str) -> tuple[int, int, int]:
    """Return a word's part in a shingle, as its first, second and third word."""
    plain = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())
    return plain * _FIRST & _MASK, plain * _SECOND & _MASK, plain * _THIRD & _MASK
