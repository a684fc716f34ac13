"""The language of a message: it affects our own words, never a page's text."""

from __future__ import annotations

import json

import msgspec
import pytest

from actors.delivery.actor import CONTENT
from actors.language.sentences import message_languages
from actors.notification.dialects import DIALECTS
from actors.notification.fitting import difference_lines, text_of
from actors.notification.headline import Notification, notification_of
from actors.notification.message_language import MessageLanguage, MessageLanguages
from tests.actors.notification.test_notification import a_diff, a_digest, an_event

SWEDISH = message_languages("en").language("sv")


@pytest.mark.parametrize(
    ("code", "default", "title"),
    [("sv", "en", "3 händelser"), ("", "sv", "3 händelser"), ("", "en", "3 events"), ("tlh", "sv", "3 händelser")],
)
def test_without_an_available_choice_the_services_language_is_used(code: str, default: str, title: str) -> None:
    told = notification_of("x", a_digest(3), message_languages(default).language(code))
    assert told.title.startswith(title)


def test_without_a_language_all_is_english() -> None:
    assert (
        MessageLanguages().language("sv").texts == MessageLanguage().texts
        and MessageLanguages().language("").translate("Test delivery") == "Test delivery"
    )


def test_a_digest_is_written_in_the_recipients_language() -> None:
    told = notification_of("x", a_digest(2, 1_200), SWEDISH)
    assert told.title == "1\u00a0200 händelser från news.test"
    text = text_of(told, "plain", 4_000)
    assert "… och 1\u00a0198 händelser till" in text and "öppna" in text and "Alla händelser" in text
    assert "Title 0" in text


def test_lines_that_are_left_out_are_counted_in_it() -> None:
    told = notification_of("x", an_event(diff=a_diff(added=tuple(f"Line {n}" for n in range(70)))), SWEDISH)
    assert difference_lines(told.items[0], DIALECTS["plain"], texts=told.texts)[-1] == "… och 10 rader till"
    assert "Line 1" in text_of(told, "plain", 10_000)


def test_notices_are_translated_and_page_text_is_not() -> None:
    title, content = "A source is failing: A source is failing: x", "Its silence is normal for it."
    said = notification_of("x", an_event(title=title, content=content, alert_type="source_failing"), SWEDISH)
    assert said.title == "En källa misslyckas: A source is failing: x"
    assert said.items[0].content == "Dess tystnad är inom det vanliga."
    assert notification_of("x", an_event(title=title, content=content), SWEDISH).title == title
    sample = notification_of("x", an_event(title="Test delivery", content=CONTENT, tags=["kind:test"]), SWEDISH)
    assert sample.title == "Testleverans" and sample.items[0].content.startswith("Det här är en testleverans.")


def test_a_worker_has_the_words_with_the_notification() -> None:
    told = notification_of("x", json.dumps(json.loads(an_event())).encode(), SWEDISH)
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(told), type=Notification)
    assert again.texts.all_events == "Alla händelser"
