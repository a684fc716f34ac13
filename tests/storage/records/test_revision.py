from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from storage.records.destination import Secret
from storage.records.identity import Millis, Seq
from storage.records.revision import ANY, Record, is_expected, revision_of
from tests.storage.contract.builders import NOW, a_destination, a_source, an_alert

RECORDS = [an_alert(), a_destination(), a_source()]
LIVE: list[tuple[Record, dict[str, Any]]] = [
    (an_alert(), {"match_count": 5, "last_match_at": NOW}),
    (a_destination(), {"state": "failing", "failing_since": NOW, "told": 1, "owes": "destination_failing"}),
    (a_destination(), {"last_delivery_at": NOW, "missed_after": Seq(7)}),
]
SET: list[tuple[Record, dict[str, Any]]] = [
    (an_alert(), {"filter_query": "other"}),
    (an_alert(), {"updated_at": Millis(NOW + 1)}),
    (a_destination(), {"url": "https://other.example/"}),
    (a_destination(), {"enabled": False}),
    (a_source(), {"tags": ("topic:a",)}),
    (a_source(), {"noise": ("key",)}),
]


@pytest.mark.parametrize(("record", "changes"), LIVE)
def test_learned_fields_are_no_part_of_the_revision(record: Record, changes: dict[str, Any]) -> None:
    assert revision_of(replace(record, **changes)) == revision_of(record)


@pytest.mark.parametrize(("record", "changes"), SET)
def test_fields_set_by_users_are_part_of_the_revision(record: Record, changes: dict[str, Any]) -> None:
    assert revision_of(replace(record, **changes)) != revision_of(record)


def test_no_secret_can_be_guessed_from_a_revision() -> None:
    hook, source = a_destination(), a_source()
    assert revision_of(replace(hook, secrets=(Secret("whsec_other"),))) == revision_of(hook)
    assert revision_of(replace(source, hello="a token")) == revision_of(source)


@pytest.mark.parametrize("record", RECORDS)
def test_one_of_the_expected_revisions_or_any_or_none_at_all(record: Record) -> None:
    revision = revision_of(record)
    assert is_expected(record, None) and is_expected(record, frozenset((ANY,)))
    assert is_expected(record, frozenset(("other", revision)))
    assert not is_expected(record, frozenset(("other",))) and not is_expected(record, frozenset())
