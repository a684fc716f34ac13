"""The practice documents are believable, and the judge reports every step of them like a real page's."""

from __future__ import annotations

import msgspec
import pytest

from actors import practice
from actors.content.messages import BodyRequest, FeedReading, PageLook, PageRequest
from actors.content.tasks import TASKS
from actors.practice import DOCUMENTS, PRACTICE_KINDS, PracticeKind, address, kind_of_url

URL = "https://shore.example/practice/page"
STEPS = range(1, 60)


def looked(step: int, memory: bytes | None) -> PageLook:
    request = PageRequest(practice.page_at(step), DOCUMENTS["page"].media, URL, None, (), memory)
    return msgspec.msgpack.decode(TASKS["look_page"](msgspec.msgpack.encode(request)), type=PageLook)


def entries(step: int) -> dict[str, str]:
    request = BodyRequest(practice.feed_at(step), DOCUMENTS["feed"].media, URL)
    reading = msgspec.msgpack.decode(TASKS["look_feed"](msgspec.msgpack.encode(request)), type=FeedReading)
    return {entry.key: entry.title for entry in reading.entries}


def test_each_change_of_the_page_is_reported_at_once_and_with_its_difference() -> None:
    memory = looked(0, None).memory
    for step in STEPS:
        look = looked(step, memory)
        assert (look.kind, look.diff is not None) == ("changed", True), f"step {step}: {look.reason}"
        memory = look.memory


def test_the_first_change_is_a_price_as_its_words_say() -> None:
    look = looked(1, looked(0, None).memory)
    assert look.diff is not None
    (change,) = look.diff.changed
    assert (change.before, change.after) == ("Single, adult: 18.00 euro", "Single, adult: 21.70 euro")
    assert practice.page_change(1) == 'The fare "Single, adult" went from 18.00 to 21.70 euro.'


def test_each_change_of_the_feed_is_one_new_entry() -> None:
    known = entries(0)
    assert len(known) == 3
    for step in STEPS:
        now = entries(step)
        new = [title for key, title in now.items() if key not in known]
        assert len(new) == 1, f"step {step}"
        known |= now


def test_no_two_notices_are_alike_and_they_come_in_several_languages() -> None:
    told = [practice.notice(number) for number in range(100)]
    assert len({notice.text for notice in told}) == len(told)
    assert len({notice.language for notice in told}) >= 5


@pytest.mark.parametrize("what", PRACTICE_KINDS)
def test_a_document_says_that_it_is_practice(what: PracticeKind) -> None:
    shown = DOCUMENTS[what].at(5).decode()
    assert "Practice" in shown
    assert "There is no such ferry" in shown


@pytest.mark.parametrize("what", PRACTICE_KINDS)
def test_a_document_is_known_by_its_address(what: PracticeKind) -> None:
    assert kind_of_url(address("http://127.0.0.1:8080", what)) == what
