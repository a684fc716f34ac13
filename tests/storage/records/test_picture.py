"""Image types, detected from the bytes."""

from __future__ import annotations

import random

import pytest

from storage.records.event import LARGEST_PICTURE, Picture, described, picture_of
from storage.records.identity import Millis
from tests.support.pictures import JPEG, PNG, WEBP, a_png, a_webp

NOW = Millis(7)


@pytest.mark.parametrize(("body", "media"), [(PNG, "image/png"), (WEBP, "image/webp"), (JPEG, "image/jpeg")])
def test_a_pictures_type_and_size_come_from_its_header(body: bytes, media: str) -> None:
    found = picture_of(body, NOW)
    assert found is not None
    assert (found.media, found.body, found.at) == (media, body, NOW)
    assert described(body) == (media, 40, 30)


def test_each_form_of_webp_says_its_size() -> None:
    flat = b"VP8L" + (5).to_bytes(4, "little") + b"\x2f" + (39 | 29 << 14).to_bytes(4, "little") + bytes(9)
    wide = b"VP8X" + (10).to_bytes(4, "little") + bytes(4) + (39).to_bytes(3, "little") + (29).to_bytes(3, "little")
    for chunk in (flat, wide):
        body = b"RIFF" + (len(chunk) + 4).to_bytes(4, "little") + b"WEBP" + chunk
        assert described(body) == ("image/webp", 40, 30)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"<!doctype html><script>alert(1)</script>",
        b"GIF89a" + bytes(40),
        b"%PDF-1.7" + bytes(60),
        PNG[:-1],
        PNG + b"<script>",
        PNG.replace(b"IHDR", b"IDAT", 1),
        WEBP[:-2],
        WEBP + b"<html>",
        WEBP.replace(b"VP8 ", b"JUNK"),
        JPEG[:-1],
        JPEG[:10],
        a_png(0, 30),
        a_png(40, 20_000),
        a_webp(0, 30),
        PNG + bytes(LARGEST_PICTURE),
    ],
)
def test_missing_broken_or_oversized_data_is_no_picture(body: bytes) -> None:
    assert picture_of(body, NOW) is None


@pytest.mark.parametrize("seed", range(50))
def test_any_bytes_are_judged_without_error(seed: int) -> None:
    chance = random.Random(seed)
    body = bytearray(chance.choice([PNG, WEBP, JPEG]))
    for _ in range(chance.randint(1, 6)):
        body[chance.randrange(len(body))] = chance.randrange(256)
    assert picture_of(bytes(body[: chance.randint(1, len(body))]), NOW) is None or isinstance(
        picture_of(bytes(body), NOW), Picture | None
    )
