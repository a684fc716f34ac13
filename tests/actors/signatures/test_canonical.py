from __future__ import annotations

import json

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from actors.signatures.event import canonical, canonical_json, es_number
from storage.records.event import Event
from tests.actors.signatures.events import EVENTS, TEXT, an_event


@given(EVENTS)
def test_the_short_cut_for_events_is_the_whole_scheme(event: Event) -> None:
    value = json.loads(msgspec.json.encode(event))
    assert canonical(event) == rfc8785.dumps(value) == canonical_json(value)


def test_control_characters_separators_and_emoji_are_written_as_the_scheme_says() -> None:
    text = "".join(map(chr, range(0x250))) + '\u2028\u2029\ufeff\U0001f600€\\/"\x7f'
    event = an_event(content=text)
    assert canonical(event) == rfc8785.dumps(json.loads(msgspec.json.encode(event)))


def test_the_signed_form_has_key_and_time_but_no_signature() -> None:
    signed = canonical(an_event(signature="x", key_id="k", signed_at="t"))
    assert b'"signature"' not in signed
    assert b'"key_id":"k"' in signed
    assert b'"signed_at":"t"' in signed


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_json_value_has_the_form_that_an_independent_implementation_gives_it(value: object) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@given(JSON)
def test_the_canonical_form_is_a_fixed_point(value: object) -> None:
    once = canonical_json(value)
    assert canonical_json(json.loads(once)) == once


def test_keys_are_sorted_as_in_the_rfcs_own_example() -> None:
    """RFC 8785, 3.2.3."""
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\u00f6": 7}
    assert [*json.loads(canonical_json(value)).values()] == [2, 4, 6, 7, 1, 5, 3]


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (0x0000000000000001, "5e-324"),
        (0x8000000000000001, "-5e-324"),
        (0x7FEFFFFFFFFFFFFF, "1.7976931348623157e+308"),
        (0x4340000000000000, "9007199254740992"),
        (0x4430000000000000, "295147905179352830000"),
        (0x44B52D02C7E14AF5, "9.999999999999997e+22"),
        (0x44B52D02C7E14AF6, "1e+23"),
        (0x444B1AE4D6E2EF4E, "999999999999999700000"),
        (0x444B1AE4D6E2EF50, "1e+21"),
        (0x3EB0C6F7A0B5ED8C, "9.999999999999997e-7"),
        (0x3EB0C6F7A0B5ED8D, "0.000001"),
        (0x41B3DE4355555555, "333333333.3333333"),
        (0xBECBF647612F3696, "-0.0000033333333333333333"),
        (0x8000000000000000, "0"),
    ],
)
def test_numbers_are_written_as_in_the_rfcs_table(bits: int, text: str) -> None:
    """RFC 8785, appendix B."""
    import struct

    assert es_number(struct.unpack(">d", bits.to_bytes(8, "big"))[0]) == text


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**53 + 1, 10**400, "\ud800", {"\ud800": 1}, object(), {1, 2}]
)
def test_values_outside_i_json_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        canonical_json(value)
