from __future__ import annotations

import pytest

from actors.notices import ALERT_TYPES, AlertType, notice_draft
from storage.records.alert import Alert
from storage.records.event import kind_of
from storage.records.tiers import Kind
from tests.support.build import NOW


@pytest.mark.parametrize("alert_type", ALERT_TYPES)
def test_a_notice_of_any_tier_is_a_draft_of_kind_notice(alert_type: AlertType) -> None:
    found = notice_draft(alert_type, "https://a.example/feed", "Quiet", "No news for a day.", NOW, source_type="feed")
    assert kind_of(found) == Kind.NOTICE
    assert (found.alert_type, found.source_type, found.fetched_at) == (alert_type, "feed", NOW)


def test_an_alerts_default_notices_exist() -> None:
    assert {*Alert("a", "a", "", "en", (), NOW, NOW).notices} <= {*ALERT_TYPES}
