"""Detection of a URL's type, and the errors for a URL that cannot be watched."""

from __future__ import annotations

import pytest

from actors.egress.failures import Blame, CheckFailed
from actors.errors import Overloaded, UrlRefused
from actors.messages.requests import DetectRequest
from actors.messages.sources import DetectUrl
from actors.sources.checks.fetch import as_failure
from actors.sources.detection import domain_error
from storage.records.tiers import SourceType
from tests.actors.sources.harness import SITE, page, rss, watching


@pytest.mark.parametrize(
    ("status", "wish", "says", "after"),
    [
        (403, 5.2, "it can't be watched now: answered so; try again in 5 s", 5),
        (503, None, "it can't be watched now: answered so; try again in 60 s", 60),
    ],
)
def test_a_throttled_request_reports_the_site_and_the_wait(
    status: int, wish: float | None, says: str, after: int
) -> None:
    error = domain_error(CheckFailed(Blame.THROTTLED, "answered so", status=status, retry_after=wish), "http://a.test/")
    assert isinstance(error, Overloaded)
    assert (str(error), error.retry_after) == (says, after)


@pytest.mark.parametrize("status", [401, 403])
def test_a_page_that_may_want_a_login_names_the_headers(status: int) -> None:
    error = domain_error(CheckFailed(Blame.REMOTE_PERMANENT, "answered so", status=status), "http://a.test/")
    assert "headers that sign you in" in str(error)


@pytest.mark.parametrize(
    ("path", "wished", "detected", "says"),
    [
        ("/feed", "html", "feed", "watched as html, as asked for; by itself: root element <rss"),
        ("/feed", "feed", "feed", "root element <rss"),
        ("/page", "html", "html", "an HTML document"),
        ("/page", None, "html", "an HTML document"),
    ],
)
async def test_the_detected_type_is_shown_next_to_a_different_requested_one(
    autojump_clock: object, path: str, wished: SourceType | None, detected: str, says: str
) -> None:
    async with watching() as (service, origin):
        origin.bodies["/feed"], origin.bodies["/page"] = rss("a", "b"), page("A page of some length.", "And more.")
        found = await service.registry_box.ask(
            lambda reply: DetectUrl(DetectRequest(f"https://{SITE}{path}", type=wished), reply)
        )
        source = (await service.add(f"https://{SITE}{path}", type=wished)).view.source
        assert found.detection == source.detection
        assert (source.type, source.detection.type) == (wished or detected, detected)
        assert source.detection.forced == (wished not in (None, detected))
        assert source.detection.evidence.startswith(says)


def test_a_refusal_of_the_guard_fails_the_check_of_a_watched_source() -> None:
    failure = as_failure(UrlRefused("address-private", "10.0.0.7 is private"))
    assert failure.blame is Blame.REMOTE_PERMANENT
    assert "address-private" in failure.reason
