"""Hashes of content: exact (`content_hash`) and for similarity (`simhash`)."""

from __future__ import annotations

import hashlib
import re
import unicodedata

BITS = 53
"""JavaScript and RFC 8785 keep integers of this size exact."""

_SHINGLE = 3
_MOST_WORDS = 20_000
_MASK = (1 << 64) - 1
# Odd constants (of the golden ratio and two primes) make a shingle's hash depend on the order of its words.
_FIRST, _SECOND, _THIRD = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_WORD = re.compile(r"\w+")
_MARKS = bytes.maketrans(b".,:;!?\"'`()[]{}<>-/\\|&%$+*=#@~^", b" " * 31)
_FURTHER_MARKS = "–—−•·«»“”„‘’…€©®™¶→"
_PART = 9
"""Bytes of a word's part in a shingle: 8 of its hash, and space for the carry of three summands."""
_LANE = _PART * _SHINGLE
_MOST_KNOWN = 8192


def content_hash(text: str) -> str:
    """Return `sha256:<hex>` of the NFC form of the full text.

    >>> content_hash("")[:15]
    'sha256:e3b0c442'
    """
    return "sha256:" + hashlib.sha256(unicodedata.normalize("NFC", text).encode("utf-8", "replace")).hexdigest()


def digest16(text: str) -> str:
    """Hash to 64 bits of BLAKE2b, as 16 hex digits: the short key of blocks and entries."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def simhash(text: str) -> int:
    """Return a 53-bit similarity hash over 3-word shingles (Charikar 2002), 0 without words. Texts that differ in at
    most 3 bits look the same, in up to 10 related. For grouping only: most small real edits leave it unchanged.
    """
    words = _words_of(unicodedata.normalize("NFKC", text).casefold())[:_MOST_WORDS]
    if not words:
        return 0
    lanes = max(1, len(words) - _SHINGLE + 1)
    # One long integer has a lane per word, with its parts as first, second and third word of a shingle. Adding it to
    # itself, shifted by one and by two lanes and parts, sums each shingle in the first part of its lane. Then set bits
    # are counted over each column of bytes: neither lanes nor the 53 sums need an interpreted loop.
    laid = int.from_bytes(b"".join(map(_WORD_HASHES.__getitem__, words)), "little")
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


def _words_of(text: str) -> list[str]:
    """Return the matches of `_WORD`; usual marks are replaced first, because a split is faster than a search."""
    spaced = text.encode("utf-8", "surrogatepass").translate(_MARKS).decode("utf-8", "surrogatepass")
    for mark in "" if text.isascii() else _FURTHER_MARKS:
        spaced = spaced.replace(mark, " ")
    words = spaced.split()
    return words if "".join(words).replace("_", "").isalnum() else _WORD.findall(text)


class _WordHashes(dict[str, bytes]):
    """A word's parts as first, second and third word of a shingle, concatenated."""

    def __missing__(self, word: str) -> bytes:
        plain = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())
        if len(self) >= _MOST_KNOWN:
            self.clear()
        self[word] = parts = b"".join(
            (plain * odd & _MASK).to_bytes(_PART, "little") for odd in (_FIRST, _SECOND, _THIRD)
        )
        return parts


_WORD_HASHES = _WordHashes()
