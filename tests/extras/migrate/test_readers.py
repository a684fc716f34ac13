"""The results for other programs' files, and the notes on the rest."""

from __future__ import annotations

import json

import pytest

from extras.migrate.changedetection import read_changedetection
from extras.migrate.detection import kind_of
from extras.migrate.drafting import Finding, Plan
from extras.migrate.execution import as_json
from extras.migrate.lists import read_opml, read_urls
from extras.migrate.urlwatch import read_urlwatch
from tests.extras.migrate import samples


def said(plan: Plan, place: str) -> dict[str, str]:
    """Return the grade of each note of a place, the worst one where there are several."""
    order = ("exact", "approximated", "impossible")
    found: dict[str, str] = {}
    for one in plan.findings:
        if one.place.startswith(place) and order.index(one.grade) >= order.index(found.get(one.what, "exact")):
            found[one.what] = one.grade
    return found


def saying(plan: Plan, what: str) -> list[Finding]:
    return [one for one in plan.findings if one.what == what]


@pytest.mark.parametrize("data", [samples.old_datastore(), samples.new_datastore()], ids=["one file", "a folder each"])
def test_watches_of_changedetection_become_sources(data: bytes) -> None:
    assert kind_of(data) == "changedetection"
    plan = read_changedetection(data)
    tickets, news, login = plan.sources
    body = tickets.body
    assert (body.url, body.title, body.tags) == ("https://tides.example/prices", "Day tickets", ("Harbour north",))
    assert body.selector == "xpath:descendant-or-self::*[@id = 'prices'] | //div[@id='notes']"
    assert body.ignore == (".clock", "xpath://footer", ".ads")
    assert body.schedule == "150m" and not tickets.enabled
    assert news.body.url == "https://tides.example/news" and news.enabled and news.body.schedule is None
    assert news.body.selector is None and said(plan, f"watch {samples.SECOND[:8]}")["include_filters"] == "impossible"
    told = said(plan, f"watch {samples.WATCH[:8]}")
    assert {what for what, grade in told.items() if grade == "impossible"} == {
        "trigger_text", "ignore_text", "notification", "filter_text_removed",
    }  # fmt: skip
    assert told["fetch_backend"] == "exact" and told["interval"] == "exact" and told["paused"] == "exact"
    assert body.headers == "Authorization: Basic aGlkZGVu" and told["headers"] == "exact"
    assert login.body.headers == "POST\n\nuser=me" and said(plan, f"watch {samples.LOGIN[:8]}")["body"] == "exact"
    assert said(plan, "the settings") == {"global_ignore_text": "impossible"}
    assert said(plan, f"watch {samples.SECOND[:8]}")["time_schedule_limit"] == "impossible"


def test_triggers_and_notifications_of_changedetection_become_alerts() -> None:
    first, second = read_changedetection(samples.old_datastore()).alerts
    assert first.body.filter_query == '-"maintenance"'  # one text has no query: rather too many
    assert first.body.name == 'changedetection.io: -"maintenance"' and first.body.language == "simple"
    assert [one.url for one in first.destinations] == ["https://hooks.example/tides?room=1"]
    assert second.body.filter_query == "" and second.urls == (
        "https://tides.example/news",
        "https://tides.example/login",
    )
    hook, mail = second.destinations
    assert (hook.url, mail.kind, mail.url) == ("https://hooks.example/all?key=hidden", "email", "me@mail.example")


def test_jobs_of_urlwatch_become_sources_and_no_command_is_run() -> None:
    assert kind_of(samples.URLWATCH) == "urlwatch"
    plan = read_urlwatch(samples.URLWATCH)
    tickets, app, board = plan.sources
    assert tickets.body.selector == "[id='main'] li.price, [id='main'] li.fee"
    assert tickets.body.ignore == (".clock",) and tickets.body.tags == ("harbour", "topic:prices")
    assert app.body.selector == "xpath:/html/body/main" and not app.enabled
    assert app.body.url == "https://tides.example/app"
    assert board.body.selector == "xpath:(//h1)[1]"
    told = said(plan, "job 1 (line 2)")
    assert told == {
        "address": "exact", "title": "exact", "tags": "exact", "selector": "exact", "left out": "exact",
        "css": "impossible", "html2text": "exact", "grep": "approximated", "re.sub": "impossible",
        "headers": "exact", "user_visible_url": "impossible",
    }  # fmt: skip
    assert tickets.body.headers == "Authorization: hidden"
    assert said(plan, "job 2")["enchanted"] == "impossible" and said(plan, "job 2")["browser"] == "exact"
    assert said(plan, "job 3 (line 25)") == {"command": "impossible"}
    assert said(plan, "job 4")["execute"] == "impossible" and said(plan, "job 4")["xpath"] == "exact"
    assert [alert.body.filter_query for alert in plan.alerts] == ['"euro*"', '"sold out*"']


def test_folders_of_a_list_of_feeds_are_tags() -> None:
    (source,) = read_opml(samples.OPML).sources
    assert (source.body.url, source.body.title, source.body.tags) == (
        "https://tides.example/feed.xml",
        "Tides",
        ("Harbour",),
    )


@pytest.mark.parametrize(
    "plan",
    [
        read_changedetection(samples.new_datastore()),
        read_urlwatch(samples.URLWATCH),
    ],
    ids=lambda plan: plan.kind,
)
def test_no_secret_of_a_file_is_shown(plan: Plan) -> None:
    assert "hidden" not in " ".join(f"{one.place} {one.what} {one.says}" for one in plan.findings)
    shown = repr(plan.sources) + "".join(as_json(plan))
    assert any(one.body.headers for one in plan.sources) and '"has_headers"' in shown
    assert "aGlkZGVu" not in shown and "Authorization" not in shown


def test_an_interval_from_before_the_global_one_is_imported() -> None:
    watch = {"url": "https://tides.example/", "time_between_check": {"hours": 2, "minutes": None}}
    (source,) = read_changedetection(json.dumps({"watching": {"a": watch}}).encode()).sources
    assert source.body.schedule == "2h"


@pytest.mark.parametrize("url", ["https://me:h@hidden@tides.example/", "me:hidden@tides.example/feed"])
def test_no_password_of_a_refused_address_is_shown(url: str) -> None:
    (finding,) = read_urls(url.encode()).findings
    assert finding.grade == "impossible" and "hidden" not in finding.says


@pytest.mark.parametrize(
    ("lines", "query"),
    [
        (["sold out", "/free|gratis/i"], '("sold out*" OR ("free*" OR "gratis*"))'),
        (["sold out", "/[0-9]+/"], ""),
        (['"*"'], ""),
        (["x" * 5000], ""),
    ],
)
def test_awaited_changes_are_rather_reported_twice_than_missed(lines: list[str], query: str) -> None:
    watch = {"url": "https://tides.example/", "trigger_text": lines, "notification_urls": ["jsons://hooks.example/"]}
    (alert,) = read_changedetection(json.dumps({"watching": {"a": watch}}).encode()).alerts
    assert alert.body.filter_query == query
    assert alert.body.match == ("page" if query else "change")


SETTINGS = b"""
report:
  html: {diff: unified}
  telegram: {enabled: true, bot_token: "12:s3cret", chat_id: [-100, "@news"]}
"""


def test_reporters_of_urlwatch_are_named_and_not_read() -> None:
    assert kind_of(SETTINGS) == "urlwatch"
    plan = read_urlwatch(b"url: https://a.example/\n---\n" + SETTINGS)
    assert (len(plan.sources), plan.alerts) == (1, ())
    assert [finding.what for finding in plan.findings if finding.grade == "impossible"] == ["reporter"]
    assert "s3cret" not in repr(plan.findings)


def test_an_xpath_and_a_css_selector_of_one_url_join() -> None:
    jobs = b"url: https://a.example/\nfilter: xpath://h1\n---\nurl: https://a.example/\nfilter: css:h2\n"
    (source,) = read_urlwatch(jobs).sources
    assert source.body.selector == "xpath://h1 | descendant-or-self::h2"
