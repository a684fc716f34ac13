"""Hashes of content: exact (`content_hash`) and of likeness (`simhash`)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
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
_PART = 9
"""Bytes of a word's part in a shingle: 8 of its hash, and room for what the sum of three carries."""
_LANE = _PART * _SHINGLE


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
    lanes = max(1, len(words) - _SHINGLE + 1)
    # One long integer with a lane for each word, in it its parts as first, second and third word of a shingle; added to
    # itself a word and a part further on, and twice that, the first part of each lane is the sum of a shingle. Then a
    # count of set bits over each column of bytes: neither the lanes nor the 53 sums are in the interpreter's loop.
    hashes = {word: _word_hash(word) for word in set(words)}
    laid = int.from_bytes(b"".join(map(hashes.__getitem__, words)), "little")
    further = 8 * (_LANE + _PART)
    summed = (laid + (laid >> further) + (laid >> 2 * further)).to_bytes(_LANE * len(words), "little")
    columns = [int.from_bytes(summed[byte : _LANE * lanes : _LANE], "little") for byte in range(8)]
    ones = int.from_bytes(b"\x01" * lanes, "little")
    masks = [ones << bit for bit in range(8)]
    value = 0
    for place in range(64 - BITS, 64):  # the low bits of a product are its weakest
        set_bits = (columns[place >> 3] & masks[place & 7]).bit_count()
        value |= (2 * set_bits > lanes) << (place - 64 + BITS)
    return value


@lru_cache(maxsize=8192)
def _word_hash(word: str) -> bytes:
    """Return a word's parts in a shingle, as its first, second and third word, one after another."""
    plain = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())
    return b"".join((plain * odd & _MASK).to_bytes(_PART, "little") for odd in (_FIRST, _SECOND, _THIRD))
