"""Other programs' browser watches, as rendered sources."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from actors.messages.requests import NewSource
from extras.migrate.changedetection import read_changedetection
from extras.migrate.drafting import Plan, wire
from extras.migrate.urlwatch import read_urlwatch

URL = "https://tides.example/board"


def of_watch(watch: dict[str, Any], **application: Any) -> Plan:
    settings = {"application": application, "headers": {}}
    store = {"watching": {"a" * 36: {"url": URL, **watch}}, "settings": settings}
    return read_changedetection(json.dumps(store).encode())


def grades(plan: Plan) -> dict[str, str]:
    return {finding.what: finding.grade for finding in plan.findings}


@pytest.mark.parametrize(
    ("watch", "application", "rendered"),
    [
        ({"fetch_backend": "html_webdriver"}, {}, True),
        ({"fetch_backend": "extra_browser_mine"}, {}, True),
        ({"fetch_backend": "system"}, {"fetch_backend": "html_webdriver"}, True),
        ({}, {"fetch_backend": "html_webdriver"}, True),
        ({"fetch_backend": "html_requests"}, {"fetch_backend": "html_webdriver"}, False),
        ({"fetch_backend": "system"}, {"fetch_backend": "html_requests"}, False),
        ({}, {}, False),
    ],
)
def test_a_watch_that_a_browser_fetches_is_rendered_by_its_own_setting_or_that_of_all(
    watch: dict[str, Any], application: dict[str, Any], rendered: bool
) -> None:
    plan = of_watch(watch, **application)
    assert plan.sources[0].body.render == ("always" if rendered else None)
    assert ("fetch_backend" in grades(plan)) is rendered


def test_a_watch_that_posts_is_not_rendered_and_the_report_says_so() -> None:
    plan = of_watch({"fetch_backend": "html_webdriver", "method": "POST", "body": "q=1"})
    assert (plan.sources[0].body.render, grades(plan)["fetch_backend"]) == (None, "approximated")


@pytest.mark.parametrize(
    ("job", "wait_for"),
    [
        ("navigate: {url}", None),
        ("url: {url}\nuse_browser: true", None),
        ("url: {url}\nkind: browser", None),
        ("navigate: {url}\nwait_for: '#tides li'", "#tides li"),
        ("navigate: {url}\nwait_for_selector: 'css=#tides'", "#tides"),
        ("navigate: {url}\nwait_for_selector: {{selector: '.row', state: visible}}", ".row"),
        ("navigate: {url}\nwait_for: 5", None),
        ("navigate: {url}\nwait_for_selector: '//div[1]'", None),
        ("navigate: {url}\nwait_for_selector: 'div['", None),
    ],
)
def test_a_job_of_a_browser_is_rendered_and_waits_for_its_element(job: str, wait_for: str | None) -> None:
    body = read_urlwatch(job.format(url=URL).encode()).sources[0].body
    assert (body.render, body.wait_for) == ("always", wait_for)
    assert msgspec.convert(wire(body), NewSource).render == "always"


def test_two_watches_of_an_address_are_rendered_if_one_of_them_was() -> None:
    plan = read_urlwatch(f"url: {URL}\n---\nnavigate: {URL}\nwait_for: '#tides'\n".encode())
    (source,) = plan.sources
    assert (source.body.render, source.body.wait_for) == ("always", None)
