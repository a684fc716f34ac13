from __future__ import annotations

import json

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from actors.signatures import canonical
from sanderling_client.verify import canonical as canonical_json
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


ASCII = st.characters(max_codepoint=127)
WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | WHOLE | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(ASCII, max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(DOCUMENTS)
def test_a_document_has_the_form_that_an_independent_implementation_gives_it(value: object) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\ud800": 1}, object(), {1, 2}])
def test_values_outside_json_are_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r".+"):
        canonical_json(value)  # type: ignore[arg-type]
