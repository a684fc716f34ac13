"""Pages from public reports of page watchers, each played through the service."""

from __future__ import annotations

import pytest

from tests.data.material import in_ci
from tests.data.people_pages import FILE, cases, played

pytestmark = pytest.mark.data


def test_reported_pages_satisfy_their_reports(subtests: pytest.Subtests) -> None:
    if not FILE.exists():
        reason = "no reported pages beside the project (../shared/findings/inputs-pages)"
        pytest.fail(reason) if in_ci() else pytest.skip(reason)
    assert len(cases()) > 50
    for case, trouble in played():
        with subtests.test(kind=case["kind"], name=case["name"]):
            assert not trouble
