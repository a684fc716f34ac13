from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.egress.decoding import Body, DecodingError, TooLarge

LIMIT = 8 << 20


def decode(coding: str, data: bytes, *, limit: int = LIMIT, step: int = 4096, cut: bool = False) -> bytes:
    body = Body(coding, limit, cut=cut)
    for start in range(0, len(data), step):
        body.feed(data[start : start + step])
        if body.full:
            break
    return body.finish()


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


ENCODERS = {"": bytes, "identity": bytes, "gzip": gzip.compress, "X-GZIP": gzip.compress, "deflate": zlib.compress}


@given(st.sampled_from(sorted(ENCODERS)), st.binary(max_size=3000), st.integers(1, 500))
def test_an_encoded_body_decodes_to_itself(coding: str, data: bytes, step: int) -> None:
    assert decode(coding, ENCODERS[coding](data), step=step) == data


@given(st.binary(min_size=1, max_size=3000))
def test_deflate_without_its_wrapping_is_understood(data: bytes) -> None:
    assert decode("deflate", raw_deflate(data)) == data


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_x7_a_bomb_is_stopped_at_the_limit_in_constant_memory(coding: str) -> None:
    bomb = ENCODERS[coding](bytes(100 << 20))
    tracemalloc.start()
    try:
        body = Body(coding, 1 << 20)
        with pytest.raises(TooLarge, match=r"larger than 1048576 bytes"):
            body.feed(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 << 20


def test_x7_a_second_coding_is_refused() -> None:
    for coding in ("gzip, gzip", "br", "zstd", "gzip,deflate", "compress"):
        with pytest.raises(DecodingError, match="was not asked for"):
            Body(coding, LIMIT)


def test_x7_empty_blocks_without_an_end_are_stopped() -> None:
    head = gzip.compress(b"")[:10]
    body = Body("gzip", 1 << 16)
    body.feed(head)
    with pytest.raises(TooLarge):
        for _ in range(100):
            body.feed(b"\x00\x00\x00\xff\xff" * 1000)  # empty stored blocks


def test_a_plain_body_over_the_limit_is_refused_or_cut() -> None:
    assert decode("", b"x" * 100, limit=100) == b"x" * 100
    with pytest.raises(TooLarge):
        decode("", b"x" * 101, limit=100)
    assert decode("", b"x" * 101, limit=100, cut=True) == b"x" * 100
    assert decode("gzip", gzip.compress(b"x" * 10_000), limit=100, cut=True) == b"x" * 100


def test_a_body_without_its_end_says_so() -> None:
    whole = gzip.compress(bytes(range(256)) * 100)
    with pytest.raises(DecodingError) as caught:
        decode("gzip", whole[:-4])
    assert caught.value.cut


@pytest.mark.parametrize(
    "data", [b"\x00\x01not text", gzip.compress(b"x" * 99, mtime=0)[:12] + b"\xff" * 9, b"\x1f\x8b\x08\x00"]
)
def test_damaged_bodies_are_distinguished(data: bytes) -> None:
    with pytest.raises(DecodingError):
        decode("gzip", data)


FEED = b"<rss><channel/></rss>"
READABLE = {
    "a character set as a coding": ("utf-8", FEED),
    "none": ("none", FEED),
    "a transfer's name": ("aws-chunked", FEED),
    "two of them": ("UTF-8, identity", FEED),
    "a label on plain text": ("gzip", FEED),
    "two members": ("gzip", gzip.compress(FEED[:9]) + gzip.compress(FEED[9:])),
    "members of nothing": ("gzip", gzip.compress(b"") + gzip.compress(FEED) + gzip.compress(b"")),
    "a tail": ("gzip", gzip.compress(FEED) + b"trailing"),
    "zeros behind": ("gzip", gzip.compress(FEED) + bytes(600)),
    "a tail of deflate": ("deflate", zlib.compress(FEED) + b"\r\n"),
}


def test_harmless_labels_and_tails_do_not_make_a_body_unreadable(subtests: pytest.Subtests) -> None:
    for case, (coding, data) in READABLE.items():
        for step in (1, 7, 4096):
            with subtests.test(f"{case}, {step} at a time"):
                assert decode(coding, data, step=step) == FEED


def test_an_unknown_coding_is_refused_for_binary_bodies() -> None:
    with pytest.raises(DecodingError, match="'lz4' was not asked for"):
        decode("lz4", bytes(range(256)))


def test_x7_members_are_bounded_together() -> None:
    with pytest.raises(TooLarge):
        decode("gzip", gzip.compress(bytes(1 << 16)) * 20, limit=1 << 20)
    with pytest.raises(DecodingError):
        decode("gzip", gzip.compress(FEED) + gzip.compress(FEED)[:-4])


def test_an_empty_body_needs_no_coding() -> None:
    assert decode("gzip", b"") == b""
