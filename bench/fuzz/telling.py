"""Notifications: events of any shape as messages, messengers' responses, and users' templates."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any, get_args
from unicodedata import category

from actors.content.errors import ContentError
from actors.destination_kinds.contract import Verdict
from actors.destination_kinds.messengers.kind import answer_of
from actors.destination_kinds.messengers.messenger import Messenger, built_in
from actors.egress.failures import PostResult
from actors.notification.dialects import DIALECTS, MEASURES, TextLimits
from actors.notification.fitting import message_of, plain_of, title_of
from actors.notification.headline import notification_of
from actors.notification.message_template import MOST_OUT, WriteRequest, check, render
from bench.fuzz import examples
from bench.fuzz.chance import Chance

WORDS = (
    *("@everyone", "<!channel>", "<@U1>", "[a](http://b)", "<b>x</b>", "&lt;", "*a*", "_b_", "`c`", "~", "|", "\\"),
    *("a\r\nBcc: b", "\u202eesir", "\u2066", "\x1b[31m", "\x00", "👩\u200d💻", "x" * 3000, "http://a.test/?b=c"),
)
ANSWERS = (
    *(b"ok", b"", b"null", b"[]", b'"a"', b"{", b'{"ok":true}', b'{"ok":1}', b'{"errcode":0}', b'{"errcode":true}'),
    b'{"errcode":93000,"errmsg":"invalid \\u001b[31m"}',
    b'{"retry_after":1e999}',
    b'{"retry_after":-1}',
    b'{"parameters":{"retry_after":75},"description":["x"]}',
    b'{"errors":["a","b"],"message":{"a":1}}',
    b'{"retry_after_ms":99999999999999999999}',
)
PIECES = (
    *("{{ title }}", "{{ summary }}", "{{ link }}", "{{ nothing }}", "{% if count %}", "{% endif %}", "{% else %}"),
    *(
        "{% for event in events %}",
        "{{ event.title }}",
        "{% endfor %}",
        "{{ title|upper }}",
        "{{ title|e }}",
        "{#",
        "#}",
    ),
    *("{% set a = title %}", "{{ a ~ a }}", "{{ title.__class__ }}", "{{ title[0] }}", "{{ range(9) }}", "{{ 9 * 9 }}"),
    *("{{ events[0].lines }}", "{% for a in events %}", "{{ a }}", "@", "<", "*", "\n", "{{", "}}", "{% raw %}", "æøå"),
    *(
        "{{ title|replace('a', '@everyone') }}",
        "{{ events|join(', ') }}",
        "{{ title|truncate(3) }}",
        "{{ ''|center(9) }}",
    ),
)
STATUSES = (200, 201, 202, 204, 299, 302, 400, 401, 404, 413, 429, 500, 503)
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e")
_SERVICES = tuple(sorted(messenger.id for messenger in built_in()))


@cache
def _messengers() -> dict[str, Messenger]:
    return {messenger.id: messenger for messenger in built_in()}


def an_event(chance: Chance) -> bytes:
    """Return an event or digest as JSON, sometimes malformed."""
    events = [_an_event(chance) for _ in range(chance.choice((1, 1, 2, 5, 40)))]
    tree: Any = events[0]
    if len(events) > 1:
        tree = {
            "id": "digest",
            "destination_id": "hook",
            "count": len(events) * chance.choice((1, 1, 9)),
            "events": events,
        }
    raw = json.dumps(tree).encode()
    return chance.bent(raw, [raw]) if chance.often(0.2) else raw


def _an_event(chance: Chance) -> dict[str, Any]:
    def text() -> str:
        return " ".join(chance.choice((*WORDS, *examples.PROSE)) for _ in range(chance.randrange(5))) + chance.text(8)

    event: dict[str, Any] = {
        "id": "019db0a4-5c00-7000-8000-000000000001",
        "title": text(),
        "summary": text(),
        "content": text(),
        "url": chance.choice(("https://a.test/b", "javascript:alert(1)", "", "http://[", text())),
        "source_url": chance.choice(("https://a.test/", "", text())),
        "tags": [text()],
        "emitted_at": chance.choice(("2026-01-01T00:00:00.000Z", "", "yesterday")),
    }
    if chance.often(0.4):
        event["diff"] = {
            "added": [text() for _ in range(chance.randrange(5))],
            "removed": [text() for _ in range(chance.choice((0, 1, 40)))],
            "changed": [{"before": text(), "after": text()} for _ in range(chance.randrange(5))],
        }
    if chance.often(0.1):
        event[chance.choice(sorted(event))] = chance.choice((None, 1, [], {}, "x"))
    return event


def message(case: bytes) -> None:
    """In each dialect a message keeps its limits, moves no cursor and turns no reading direction."""
    told = notification_of("019db0a4-5c00-7000-8000-000000000001", case)
    for name in DIALECTS:
        for most in (300, 2000):
            limits = TextLimits(dialect=name, text=most, unit="bytes")
            for text in (message_of(told, limits), plain_of(told, limits)):
                assert MEASURES["bytes"](text) <= most
                assert _is_inert(text)
    assert len(title_of(told, 100)) <= 100 and "\n" not in title_of(told, 100)


def _is_inert(text: str) -> bool:
    """Return whether a text has no controls but line breaks and tabs, and nothing that turns its direction."""
    return not any(category(letter) == "Cc" and letter not in "\n\t" for letter in text) and not set(text) & _TURNING


def an_answer(chance: Chance) -> tuple[str, int, bytes]:
    """Return a messenger and its response."""
    body = chance.choice(ANSWERS)
    body = chance.bent(body, ANSWERS) if chance.often(0.6) else body
    return (
        chance.choice(_SERVICES),
        chance.choice((200, 201, 202, 204, 299, 302, 400, 401, 404, 413, 429, 500, 503)),
        body,
    )


def answer(case: tuple[str, int, bytes]) -> None:
    """It has a verdict or is judged by its status, gives a printable message, and no odd wait."""
    name, status, body = case
    found = answer_of(_messengers()[name], PostResult(status, 1, body, None))
    assert found.verdict is None or found.verdict in get_args(Verdict)
    assert found.retry_after is None or found.retry_after >= 0
    assert found.retry_after is None or not math.isnan(found.retry_after)
    assert found.delivered == (not found.error)
    assert (found.error or "").isprintable() and len(found.error or "") < 500
    assert not (found.delivered and status >= 300)


def a_template(chance: Chance) -> tuple[str, bytes]:
    """Return a user's template and the event to fill in."""
    text = "".join(chance.choice(PIECES) for _ in range(chance.choice((1, 2, 4, 8))))
    text = chance.bent_text(text) if chance.often(0.3) else text
    return text[:2000], an_event(chance)


def template(case: tuple[str, bytes]) -> None:
    """It is refused with a message, or its output keeps the limits and has no mention written by a page."""
    text, body = case
    limits = TextLimits(dialect="markdown", text=1500)
    try:
        check(text, "", limits)
        told = notification_of("019db0a4-5c00-7000-8000-000000000001", body)
        made = render(WriteRequest(text, "", told, limits)).text
    except ContentError as refused:
        assert str(refused)
        return
    assert len(made) <= limits.text and len(made.encode()) <= MOST_OUT
    assert _is_inert(made)
    if "@" not in text:
        assert "@everyone" not in made
