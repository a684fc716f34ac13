"""The worker's tasks across the byte interface."""

from __future__ import annotations

import random

import msgspec
import pytest
from msgspec.structs import replace

from actors.content.bodies.frames import Frame
from actors.content.errors import ContentError
from actors.content.messages import (
    BodyRequest,
    FeedReading,
    Finding,
    FrameRequest,
    ItemPage,
    PageLook,
    PagePreviewAnswer,
    PageRequest,
    StandingRequest,
)
from actors.content.tasks import TASKS, look_page
from actors.content.wording.words import content_hash
from storage.records.event import StandingValues
from tests.actors.content.written_pages import PROSE, URL, html

FEED = b"<rss version='2.0'><channel><title>T</title><item><title>a</title></item></channel></rss>"


def run(task: str, request: object) -> bytes:
    return TASKS[task](msgspec.msgpack.encode(request))


def test_each_task_answers_its_request() -> None:
    page = html(*PROSE)
    assert msgspec.msgpack.decode(run("detect", BodyRequest(page, "", URL)), type=Finding).type == "html"
    assert len(msgspec.msgpack.decode(run("look_feed", BodyRequest(FEED, "", URL)), type=FeedReading).entries) == 1
    assert msgspec.msgpack.decode(run("read_item", PageRequest(page, "", URL)), type=ItemPage).title == "The shore"
    (frame,) = msgspec.msgpack.decode(run("frame", FrameRequest("hello", URL)), type=list[Frame])
    assert frame.content == "hello"


def test_a_check_reads_and_judges_in_one_call() -> None:
    first = msgspec.msgpack.decode(run("look_page", PageRequest(html(*PROSE), "", URL)), type=PageLook)
    assert (first.kind, first.trouble) == ("baseline", None)
    assert first.content_hash == content_hash(first.content)
    second = PageRequest(
        html(*PROSE, "The tide table of the winter has been replaced by a new one, which is right."), "", URL
    )
    answer = msgspec.msgpack.decode(
        run("look_page", msgspec.structs.replace(second, memory=first.memory)), type=PageLook
    )
    assert answer.kind == "changed"
    assert answer.delta is not None
    assert "which is right" in answer.content
    third = msgspec.structs.replace(second, memory=answer.memory, number=3)
    quiet = msgspec.msgpack.decode(run("look_page", third), type=PageLook)
    assert (quiet.kind, quiet.content, quiet.memory) == ("unchanged", "", answer.memory)


def test_a_wall_is_refused_at_first_and_later_fails_the_check_with_its_memory() -> None:
    wall = PageRequest(html("wait", title="Just a moment..."), "", URL)
    with pytest.raises(ContentError, match="challenge"):
        run("look_page", wall)
    first = msgspec.msgpack.decode(run("look_page", PageRequest(html(*PROSE), "", URL)), type=PageLook)
    later = msgspec.msgpack.decode(run("look_page", msgspec.structs.replace(wall, memory=first.memory)), type=PageLook)
    assert later.trouble is not None
    assert later.memory == first.memory


def test_a_vanished_part_is_reported_at_the_second_check_and_so_is_its_return() -> None:
    page = b"<html><body><main><h1>Prices</h1><p class=fee>Adults pay 12 euros a day.</p></main></body></html>"
    asked = PageRequest(page, "text/html", "https://shore.example/", selector="p.fee")
    memory = look_page(asked).memory
    other = replace(asked, body=page.replace(b"class=fee", b"class=x1"))
    assert look_page(other).kind == "baseline"
    held = look_page(replace(other, memory=memory, number=2))
    assert (held.kind, held.soon, held.remark) == ("held", True, "")
    assert look_page(replace(asked, memory=held.memory, number=3)).kind == "unchanged"
    gone = look_page(replace(other, memory=held.memory, number=3))
    assert gone.kind == "changed" and gone.diff is not None
    assert gone.remark == "Its selector matches nothing now."
    back = look_page(replace(asked, memory=gone.memory, number=4))
    assert back.diff is not None and "12 euros" in str(back.diff)


def test_a_counter_is_in_no_summary_change_or_value_once_it_is_known() -> None:
    chance, memory = random.Random(3), b""
    for number in range(1, 9):
        price, count = "£289.00" if number == 8 else "£349.00", chance.randint(10, 99)
        page = html(*PROSE[:1], f"{count} people look at this right now", *PROSE[1:], f"Price: {price}")
        answer = run("look_page", PageRequest(page, "", URL, memory=memory, number=number))
        look = msgspec.msgpack.decode(answer, type=PageLook)
        memory = look.memory
    values = msgspec.msgpack.decode(run("standing_values", StandingRequest(memory)), type=StandingValues).values
    assert "£289.00" in [one.value.text for one in values] and not any("people" in one.label for one in values)
    assert look.kind == "changed" and look.diff is not None
    assert [(one.before, one.after) for one in look.diff.changed] == [("Price: £349.00", "Price: £289.00")]
    assert "people" not in f"{look.summary} {look.diff} {look.changes}"


@pytest.mark.parametrize(
    ("body", "media", "selector", "values"),
    [
        (html(*PROSE, "Price: £349.00"), "", None, [("Price", "£349.00", "349.00", "GBP")]),
        (
            b'{"plan": {"price": 12.5}, "version": "1.4.2"}',
            "application/json",
            "version",
            [("$.version", "1.4.2", "1.4.2", "")],
        ),
    ],
)
def test_a_preview_lists_the_values_that_the_first_check_would(
    body: bytes, media: str, selector: str | None, values: list[tuple[str, str, str, str]]
) -> None:
    request = PageRequest(body, media, URL, selector)
    page = msgspec.msgpack.decode(run("preview_page", request), type=PagePreviewAnswer).page
    assert page is not None
    found = [(one.path or one.label, one.text, one.value, one.unit) for one in page.values if one.type != "number"]
    assert found == values
