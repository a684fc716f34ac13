"""Notifications: inert in every dialect, never over their limit, and honest about omissions."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import jinja2
import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from actors.notification.dialects import DIALECTS, MEASURES, DialectName, Unit, cut, one_line, paragraphs
from actors.notification.fitting import text_of, title_of
from actors.notification.headline import notification_of
from actors.notification.message_language import ENGLISH
from tests.storage.contract.builders import an_alert

NASTY = st.text(
    st.one_of(
        st.sampled_from("*_~`[]()<>@#|\\!&\"'{}+-=.:/\r\n\t\x00\x1b\u202e\u2066\u2069\u200b\ufeff1aå字 "),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)
MARKUP = [
    "**bold** _it_ ~~no~~ `code`",
    "[click](http://evil.test) ![x](http://evil.test/x.png) <http://evil.test>",
    "<script>alert(1)</script> <b>b</b> &lt;i&gt;",
    "# heading",
    "1. one",
    "- item",
    "> quote",
    "| a | b |",
    "@everyone @here @channel <@123> <!channel> <#5> <users/all>",
    "```\nblock\n```",
    "a\r\nBcc: all@evil.test",
    "\u202egnp.exe",
    "x\\*y\\",
    "=====",
    "{{ 6 * 7 }} {% set x = 1 %} {# no #} {",
    "{{{ {{{{ {%- raw %}",
    "---",
]


def an_event(**changes: Any) -> bytes:
    event = {
        "$schema": "https://s.test/schemas/stream-event/1.json",
        "id": "0190",
        "source_url": "https://news.test/feed",
        "url": "https://news.test/1?a=(b)&c=[d]",
        "title": "Fares rise",
        "summary": "From 29 to 31",
        "content": "Fares rise on Monday.",
        "emitted_at": "2026-11-23T10:00:00Z",
    }
    return json.dumps(event | changes).encode()


def a_digest(number: int, count: int | None = None, **changes: Any) -> bytes:
    events = [json.loads(an_event(id=f"{at:04}", title=f"Title {at}", **changes)) for at in range(number)]
    count = number if count is None else count
    return json.dumps({"destination_id": "d", "id": "x", "count": count, "events": events}).encode()


def a_diff(*changed: tuple[str, str], added: tuple[str, ...] = (), removed: tuple[str, ...] = ()) -> dict[str, Any]:
    pairs = [
        {"before": before, "after": after, "context": {"heading": "Fares", "row": "Adult"}} for before, after in changed
    ]
    return {"added": added, "removed": removed, "changed": pairs, "truncated": False}


def seen(name: DialectName, text: str) -> str:
    """Return the text that a reader of a dialect sees, by an independent parser."""
    if name == "markdown":
        text = MarkdownIt("commonmark").enable(["strikethrough", "table"]).render(text)
    if name == "slack":
        text = re.sub(r"<([^|>]*)\|([^>]*)>", r"\2", text).replace("&lt;", "<").replace("&gt;", ">")
        return text.replace("&amp;", "&").replace("\u2060", "")
    if name == "plain":
        return text
    if name == "jinja":
        shown = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render()
        return shown.replace("\u2060", "")
    found = lxml.html.fragment_fromstring(text.replace("<br>", "\n"), create_parent="div").text_content()
    return str(found).replace("\u2060", "")


@pytest.mark.parametrize("name", sorted(DIALECTS))
@pytest.mark.parametrize("text", MARKUP)
def test_markup_of_a_page_is_shown_and_does_nothing(name: DialectName, text: str) -> None:
    told = notification_of("0190", an_event(title=text, summary=text, content=text))
    made = text_of(told, name, 4000, titled=True)
    assert one_line(text) in " ".join(seen(name, made).split())
    assert "\u202e" not in made and "\r" not in made
    if name == "markdown":
        html = MarkdownIt("commonmark").enable(["strikethrough", "table"]).render(made)
        assert re.findall("(?:href|src)=.([^/]*//[^/]*)", html) == ["https://news.test"]
        tags = set(re.findall(r"<(\w+)", html))
        assert tags <= {"p", "strong", "a"}, html
        assert not re.search(r"@\w", made) and "<@" not in made
    if name == "slack":
        assert re.findall("<([^|>]*)", made) == ["https://news.test/1?a=%28b%29&amp;c=%5Bd%5D"]
    if name in ("html", "telegram", "card"):
        assert set(re.findall(r"<(\w+)", made)) <= {"strong", "b", "a", "br"}
        assert re.findall("href=.([^/]*//[^/]*)", made) == ["https://news.test"]


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_a_difference_is_readable_in_every_dialect(name: DialectName) -> None:
    diff = a_diff(("29 kr", "31 kr"), added=("A night ferry",), removed=("The old bridge",))
    text = seen(name, text_of(notification_of("0190", an_event(diff=diff)), name, 4000))
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    assert lines[:3] == ["Fares › Adult: 29 kr → 31 kr", "+ A night ferry", "- The old bridge"] or (
        name == "slack" and lines[2] == "- ~The old bridge~"
    )
    assert "news.test" in lines[3] and "From 29" not in text


@given(
    name=st.sampled_from(sorted(DIALECTS)),
    unit=st.sampled_from(sorted(MEASURES)),
    most=st.integers(80, 700),
    title=NASTY,
    content=st.lists(NASTY, max_size=8).map("\n".join),
    lines=st.lists(st.tuples(NASTY, NASTY), max_size=6),
    titled=st.booleans(),
)
def test_a_text_is_never_longer_than_its_limit(
    name: DialectName,
    unit: Unit,
    most: int,
    title: str,
    content: str,
    lines: list[tuple[str, str]],
    titled: bool,
) -> None:
    changes: dict[str, Any] = {"title": title, "content": content, "url": "https://news.test/" + "x" * 20}
    if lines:
        changes["diff"] = a_diff(*lines)
    told = notification_of("0190", an_event(**changes))
    text = text_of(told, name, most, unit, titled=titled)
    assert MEASURES[unit](text) <= most
    assert text.strip() and not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)


@pytest.mark.parametrize("most", range(20, 200))
def test_a_line_without_text_keeps_the_limit_with_its_markup(most: int) -> None:
    """An empty added line was kept as `+ <ins></ins>` without a look at the room for it."""
    told = notification_of(
        "d", an_event(diff=a_diff(("Ticket 12 EUR", "Ticket 14 EUR"), added=("", "Open on Mondays")))
    )
    assert MEASURES["bytes"](text_of(told, "html", most, "bytes")) <= most


@given(st.integers(1, 60), st.integers(0, 500), st.integers(120, 3000), st.sampled_from(sorted(DIALECTS)))
def test_a_digest_says_how_many_are_left_out(number: int, more: int, most: int, name: DialectName) -> None:
    told = notification_of("x", a_digest(number, number + more, summary="", content=""))
    text = seen(name, text_of(told, name, most)).replace("\u2060", "")
    shown = len(re.findall(r"Title \d+", text))
    left = re.search(r"… and ([\d,]+) more event", text)
    assert shown + (int(left[1].replace(",", "")) if left else 0) == number + more or shown == 0
    assert len(text_of(told, name, most)) <= most


def test_a_digest_of_one_none_or_one_site_is_worded_as_such() -> None:
    assert notification_of("x", a_digest(1)).title == "1 event of news.test"
    assert notification_of("x", a_digest(3)).title == "3 events of news.test"
    empty = notification_of("x", a_digest(0))
    assert (empty.title, text_of(empty, "plain", 100)) == ("0 events", "")


@given(st.text(max_size=50), st.integers(0, 60))
def test_a_cut_is_short_enough_and_a_beginning(text: str, most: int) -> None:
    short = cut(text, most)
    assert len(short) <= most
    assert (
        short == text or text.startswith(short.removesuffix("…").rstrip("\u2066")) or "\u2066" <= max(text) <= "\u2069"
    )


@given(NASTY)
def test_inert_text_is_inert_and_stays_so(text: str) -> None:
    once = paragraphs(text)
    assert paragraphs(once) == once and one_line(one_line(text)) == one_line(text)
    assert "\r" not in once and "\n" not in one_line(text)


def test_isolates_that_are_closed_stay_and_others_go() -> None:
    assert paragraphs("\u2068מחיר\u2069 10") == "\u2068מחיר\u2069 10"
    assert paragraphs("\u2068מחיר 10") == "מחיר 10" and paragraphs("a\u2069\u2068") == "a"


def test_a_link_is_only_ever_a_web_address_of_one_piece() -> None:
    for url in (
        "javascript:alert(1)",
        "data:text/html,x",
        "https://a.test/ x",
        "https://a.test/\u202ex",
        "wss://a.test",
    ):
        told = notification_of("0190", an_event(url=url, source_url=url))
        assert told.items[0].link == ""
        assert text_of(told, "html", 1000)
    assert notification_of("0190", an_event(url="wss://a.test")).items[0].link == "https://news.test/feed"


@pytest.mark.parametrize("name", ["markdown", "html", "telegram", "slack", "card"])
def test_an_address_ends_no_link_early(name: DialectName) -> None:
    url = "https://news.test/a)b]c|d'e*f_g?h=(i)&j=<k>"
    text = text_of(notification_of("0190", an_event(url=url.replace("<k>", "%3Ck%3E"))), name, 1000)
    if name == "markdown":
        html = MarkdownIt().render(text)
        assert html.count("<a ") == 1 and "%29b%5Dc%7Cd" in html
    elif name == "slack":
        assert len(re.findall(r"<https[^|>]*\|news.test>", text)) == 1
    else:
        (link,) = lxml.html.fragment_fromstring(text, create_parent="div").iter("a")
        assert link.text == "news.test" and link.get("href", "").endswith("&j=%3Ck%3E")


def test_a_row_of_another_version_stops_nothing() -> None:
    told = notification_of("0190", b"{}")
    assert (told.title, text_of(told, "plain", 100), title_of(told, 8)) == ("Something new", "", "Somethi…")
    for body in (b'{"title": 7}', b"[]", b"nonsense", b'{"title": "\xff"}', b'{"destination_id": "d", "events": 3}'):
        assert notification_of("0190", body).title in ("Something new", "0 events")
    odd = notification_of("0190", an_event(diff={"changed": 7}, content="Fares rise on Monday."))
    assert odd.title == "From 29 to 31 · Fares rise" and odd.items[0].lines == ()
    assert notification_of("x", a_digest(2).replace(b'"Title 1"', b"1")).items[1].title == "Something new"


def test_printable_characters_are_not_escaped() -> None:
    # `paragraphs` and `one_line` return such text at once, so no printable letter may need care.
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    assert not [
        letter for letter in text if letter.isprintable() and letter != " " and one_line(f"a{letter}\n") != f"a{letter}"
    ]


ALERT = an_alert("cheap", id="7a", filter_query="price<300")
SERVICE = "https://s.test"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            an_event(),
            [
                "Alert: cheap",
                f"Event: {SERVICE}/events/0190",
                f"Why: {SERVICE}/events/0190#why",
                f"Mute: {SERVICE}/alerts/7a#mute",
            ],
        ),
        (a_digest(3), ["Alert: cheap", f"Mute: {SERVICE}/alerts/7a#mute"]),
        (
            an_event(alert_type="source_failing"),
            [
                "Alert: cheap",
                f"Event: {SERVICE}/events/0190",
                f"Why: {SERVICE}/events/0190#why",
                f"Mute: {SERVICE}/alerts/7a#mute",
            ],
        ),
        (an_event(tags=["kind:test"]), []),
    ],
)
def test_a_message_names_its_alert_and_links_to_event_reason_and_mute(body: bytes, lines: list[str]) -> None:
    told = notification_of("0190", body, ENGLISH, ALERT)
    text = text_of(told, "plain", 4000).split("\n")
    assert [line for line in text if line.startswith(("Alert", "Event", "Why", "Mute"))] == lines
    (line,) = text_of(told, "slack", 4000).split("\n")[-1:]
    assert not lines or line.endswith(f"<{SERVICE}/alerts/7a#mute|Mute>")


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_an_alert_never_makes_a_message_too_long_and_its_name_does_nothing(name: DialectName) -> None:
    for text in MARKUP:
        alert = an_alert(text, id="7a")
        for most in (60, 120, 300, 2000):
            made = text_of(notification_of("0190", an_event(), ENGLISH, alert), name, most)
            assert len(made) <= most and "Fares rise" in made and "\u202e" not in made
        assert one_line(text)[:40] in " ".join(seen(name, made).split())
