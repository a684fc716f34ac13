from __future__ import annotations

import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.bodies.sniffing import lines_of, size_of_picture
from actors.content.errors import ContentError
from actors.content.messages import PageLook, PageRequest
from actors.content.tasks import look_page

URL = "https://shore.example/plan.png"


def png(width: int, height: int, rest: bytes = b"") -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 2, 0, 0, 0) + rest


def jpeg(width: int, height: int) -> bytes:
    comment = b"\xff\xfe" + struct.pack(">H", 6) + b"abcd"
    return b"\xff\xd8" + comment + b"\xff\xc2" + struct.pack(">HBHH", 11, 8, height, width) + b"...."


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (png(640, 480), (640, 480)),
        (b"GIF89a" + struct.pack("<HH", 3, 4), (3, 4)),
        (jpeg(30, 20), (30, 20)),
        (b"\xff\xd8\xff\xe0\x00", None),
        (b"\xff\xd8" + b"\xff\xe0\x00\x00" * 2_000, None),
        (png(1, 1)[:18], None),
        (b"BM", None),
    ],
)
def test_a_picture_says_how_large_it_is(body: bytes, size: tuple[int, int] | None) -> None:
    assert size_of_picture(body) == size


@given(st.binary(max_size=80), st.sampled_from([b"", b"GIF8", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"]))
def test_a_files_hash_covers_exactly_its_bytes(rest: bytes, start: bytes) -> None:
    *_, size, digest = lines_of("a GIF image", start + rest)
    assert size == f"Size: {len(start + rest):,} bytes"
    assert digest.removeprefix("SHA-256: ").replace(" ", "") == hashlib.sha256(start + rest).hexdigest()


def looks(*bodies: bytes, selector: str | None = None) -> list[PageLook]:
    found: list[PageLook] = []
    for number, body in enumerate(bodies, 1):
        memory, was = (found[-1].memory, "file") if found else (None, "")
        asked = PageRequest(body, "image/png", URL, selector, memory=memory, was=was, number=number)
        found.append(look_page(asked))
    return found


def test_one_byte_is_a_change_at_once_and_the_same_bytes_are_none() -> None:
    told = looks(png(9, 9, b"a"), png(9, 9, b"a"), png(9, 9, b"b"), png(9, 9, b"b"), png(18, 9, b"b"), png(9, 9, b"a"))
    assert [one.kind for one in told] == ["baseline", "unchanged", "changed", "unchanged", "changed", "changed"]
    assert told[4].diff is not None
    assert told[4].diff.changed[0].after == "PNG image, 18 × 9 pixels" and "SHA-256" in told[4].summary
    assert not any(one.remark for one in told), "no line of a file is left out for being restless"
    assert told[5].reverted, "it is what was told at first"
    assert [one.kind for one in told[2].changes] == ["text"], "no group of a hash is a number"


@pytest.mark.parametrize(("was", "memory"), [("html", None), ("", b"kept")])
def test_a_page_that_gives_way_to_a_file_has_failed(was: str, memory: bytes | None) -> None:
    page = looks(b"<html><body><p>" + b"words of a page " * 30)[0].memory
    with pytest.raises(ContentError, match=r"not a page|another kind|a file without text"):
        look_page(PageRequest(png(1, 1), "image/png", URL, memory=memory and page, was=was))


def test_a_file_without_text_takes_no_selector() -> None:
    with pytest.raises(ContentError, match="can't choose a part"):
        looks(png(1, 1), selector="p")
