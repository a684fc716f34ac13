"""Objects of a replica: reading returns the written bytes, and refuses all others by name."""

from __future__ import annotations

import hashlib
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extras.cluster.replica.parts import (
    PART,
    BadPart,
    Current,
    Owner,
    PageChange,
    Whole,
    packed_change,
    packed_part,
    read_change,
    read_current,
    read_owner,
    read_part,
    read_whole,
    start_of,
    written_record,
)
from storage.records.identity import Millis
from tests.support.replica import KEY, OTHER

AT = Millis(1_795_000_000_000)
PAGES = st.dictionaries(st.integers(1, 2**31), st.binary(min_size=512, max_size=512), min_size=1, max_size=6)


@given(PAGES, st.integers(1, 2**31), st.binary(min_size=32, max_size=32))
def test_a_change_comes_back_as_it_was(pages: dict[int, bytes], size: int, before: bytes) -> None:
    body, hash = packed_change(PageChange(pages, size), before, AT, KEY)
    found = read_change(body, before, "it", KEY)
    assert (dict(found.change.pages), found.change.size, found.at, found.hash) == (pages, size, AT, hash)


@given(st.data(), PAGES)
def test_a_change_that_is_torn_altered_or_out_of_order_is_refused(data: st.DataObject, pages: dict[int, bytes]) -> None:
    before = start_of("chain-1")
    body, hash = packed_change(PageChange(pages, 9), before, AT, KEY)
    cut = data.draw(st.integers(0, len(body) - 1))
    at = data.draw(st.integers(0, len(body) - 1))
    altered = bytearray(body)
    altered[at] ^= data.draw(st.integers(1, 255))
    for wrong in (body[:cut], bytes(altered), body + b"x"):
        with pytest.raises(BadPart, match="it: "):
            read_change(wrong, before, "it", KEY)
    for other in (hash, start_of("chain-2")):
        with pytest.raises(BadPart, match="does not follow"):
            read_change(body, other, "it", KEY)
    with pytest.raises(BadPart, match="another MAC"):
        read_change(body, before, "it", OTHER)


@pytest.mark.parametrize("kind", ["owner", "current", "whole"])
def test_a_record_with_a_wrong_checksum_is_refused(kind: str) -> None:
    record, read = {
        "owner": (Owner(1, 2, "a", AT), read_owner),
        "current": (Current("chain-1", 3, AT), read_current),
        "whole": (Whole(5, 12, "0.1.0", AT, ("00",)), lambda body, key: read_whole(body, "whole", key)),
    }[kind]
    body = written_record(kind, record, KEY)
    assert read(body, KEY) == record
    plain = body.partition(b"\n")[2]
    unsigned = hashlib.sha256(plain).hexdigest().encode() + b"\n" + plain
    others = [
        written_record(kind, Change_(), KEY),
        written_record(kind, record, OTHER),
        written_record("x", record, KEY),
    ]
    for wrong in (b"", body[:-1], body.replace(b"1", b"2", 1), b"\xff" * 99, unsigned, *others):
        with pytest.raises(BadPart, match=kind):
            read(wrong, KEY)


class Change_(msgspec.Struct):  # noqa: N801  # unlike any real record
    nothing: int = 0


def test_a_copy_has_as_many_parts_as_its_size_asks_for() -> None:
    whole = Whole(PART + 1, 12, "0.1.0", AT, ("00",))
    with pytest.raises(BadPart, match="not as many"):
        read_whole(written_record("whole", whole, KEY), "whole", KEY)


def test_a_part_unpacks_to_no_more_than_a_part() -> None:
    body, hash = packed_part(bytes(PART + 1))
    with pytest.raises(BadPart, match="torn"):
        read_part(body, hash, "part")
    body, hash = packed_part(random.Random(1).randbytes(1000))
    assert len(read_part(body, hash, "part")) == 1000
    with pytest.raises(BadPart, match="another checksum"):
        read_part(body, "0" * 64, "part")
