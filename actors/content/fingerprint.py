"""Hashes of content: exact (`content_hash`) and of likeness (`simhash`)."""

from __future__ import annotations

import hashlib
import re
import unicodedata

SIMHASH_VERSION = 1
"""Part of the event schema: changes when the words, the shingles or the hash of `simhash` do."""

BITS = 53
"""An integer that JavaScript and RFC 8785 keep exact."""

_SHINGLE = 3
_MOST_WORDS = 20_000
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
    last = max(1, len(words) - _SHINGLE + 1)
    shingles = (" ".join(words[i : i + _SHINGLE]) for i in range(last))
    digests = b"".join(hashlib.blake2b(s.encode("utf-8", "replace"), digest_size=7).digest() for s in shingles)
    value = 0
    # Counting column by column with translate and count keeps the 53 sums out of the interpreter's loop.
    for bit in range(BITS):
        ones = digests[bit >> 3 :: 7].translate(_BIT_TABLES[bit & 7]).count(1)
        value |= (2 * ones > last) << bit
    return value
