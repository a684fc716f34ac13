"""Random input: corrupted examples, and texts with characters that break parsers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
LONGEST = 48 << 10
"""Maximum bytes of a drawn body. Longer ones find nothing more and take longer."""
TOKENS: Sequence[bytes] = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\r", b"\t", b" ", b"%", b"%00", b"%2e", b"&#0;",
    b"&#x110000;", b"&amp;", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<!DOCTYPE x [", b"]>", b"<?xml", b"?>",
    b"</", b"/>", b"<script>", b"<p>", b"<table><tr><td>", b"<template>", b"<svg>", b"<plaintext>", b"{", b"}", b"[",
    b"]", b'"', b"\\", b"\\u0000", b"\\ud800", b"null", b"1e999", b"-1", b"0", b"9" * 30, b"\xed\xa0\x80", b"\xc0\xaf",
    "é".encode(), "e\u0301".encode(), "\u202e".encode(), "\u2028".encode(), "東京".encode(), "👩\u200d💻".encode(),
    "ß".encode(), "ǅ".encode(), "\U000e0001".encode(), "\ufdfa".encode(), b"..", b"//", b"@", b":", b"#", b"*", b"(",
)  # fmt: skip
LETTERS = "abcABC019 -._~:/?#[]@!$&'()*+,;=%|<>\"\\\t\näßéİıſ€東京か한и\u0301\u200b\u202e\u2028\u00a0👍🇸🇪\ud800\x00\x7f"


class Chance(random.Random):
    """A seeded source of random texts and bytes."""

    def often(self, share: float) -> bool:
        return self.random() < share

    def few(self, most: int, each: Callable[[], T]) -> list[T]:
        """Return up to `most` things, usually few."""
        return [each() for _ in range(min(self.randrange(most + 1), self.randrange(most + 1)))]

    def text(self, most: int = 30) -> str:
        return "".join(self.few(most, lambda: self.choice(LETTERS)))

    def utf8(self, most: int = 30) -> str:
        """Return a text that can be encoded in UTF-8."""
        return self.text(most).replace("\ud800", "")

    def bent(self, good: bytes, others: Sequence[bytes] = ()) -> bytes:
        """Corrupt a good example by one to eight accidents."""
        data = bytearray(good)
        for _ in range(self.choice((1, 1, 1, 2, 3, 5, 8))):
            self.choice(_ACCIDENTS)(self, data, others)
            del data[LONGEST:]
        return bytes(data)

    def bent_text(self, good: str, others: Sequence[str] = ()) -> str:
        """Corrupt a good text; half of the time without breaking characters."""
        if self.often(0.5):
            as_bytes = [text.encode("utf-8", "replace") for text in (good, *others)]
            return self.bent(as_bytes[0], as_bytes[1:]).decode("utf-8", "replace")
        letters = list(good)
        for _ in range(self.choice((1, 1, 2, 4))):
            at = self.randrange(len(letters) + 1)
            letters[at : at + self.choice((0, 0, 1, 4))] = self.text(4)
        return "".join(letters)

    def cut(self, data: bytes) -> list[bytes]:
        """Return data in pieces, as a network may deliver it."""
        places = sorted(self.randrange(len(data) + 1) for _ in range(self.choice((0, 1, 2, 8))))
        return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def _part(chance: Chance, data: bytes | bytearray, most: int = 64) -> slice:
    at = chance.randrange(len(data) + 1)
    return slice(at, at + chance.randrange(chance.choice((2, 8, most)) + 1))


def _flip(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _drop(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    del data[_part(chance, data, 512)]


def _insert(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.choice(TOKENS)


def _replace(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    data[_part(chance, data, 16)] = chance.choice(TOKENS)


def _noise(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    data[_part(chance, data, 16)] = chance.randbytes(chance.randrange(16))


def _repeat(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    part = _part(chance, data)
    data[part.start : part.start] = bytes(data[part]) * chance.choice((1, 2, 10, 300))


def _nest(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.choice(TOKENS) * chance.choice((5, 100, 2000))


def _splice(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    if others:
        other = chance.choice(others)
        data[_part(chance, data, 512)] = other[_part(chance, other, 2048)]


def _cut(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    del data[chance.randrange(len(data) + 1) :]


def _move(chance: Chance, data: bytearray, others: Sequence[bytes]) -> None:
    part = _part(chance, data, 256)
    taken = bytes(data[part])
    del data[part]
    at = chance.randrange(len(data) + 1)
    data[at:at] = taken


_ACCIDENTS = (_flip, _drop, _insert, _insert, _replace, _replace, _noise, _repeat, _nest, _splice, _splice, _cut, _move)
