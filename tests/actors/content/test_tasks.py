"""The worker's tasks, over the border of bytes."""

from __future__ import annotations

import msgspec
import pytest

from actors.content.bodies.frames import Frame
from actors.content.errors import ContentError
from actors.content.messages.readings import FeedReading, Finding
from actors.content.messages.requests import DetectRequest, FeedRequest, FrameRequest, PageLook, PageRequest
from actors.content.pages.page import PageReading
from actors.content.tasks import TASKS
from actors.content.wording.fingerprint import content_hash
from tests.actors.content.written_pages import PROSE, URL, html

FEED = b"<rss version='2.0'><channel><title>T</title><item><title>a</title></item></channel></rss>"


def run(task: str, request: object) -> bytes:
    return TASKS[task](msgspec.msgpack.encode(request))


def test_each_task_answers_its_request() -> None:
    page = html(*PROSE)
    assert msgspec.msgpack.decode(run("detect", DetectRequest(page, "", URL)), type=Finding).type == "html"
    assert len(msgspec.msgpack.decode(run("feed", FeedRequest(FEED, "", URL)), type=FeedReading).entries) == 1
    assert msgspec.msgpack.decode(run("page", PageRequest(page, "", URL)), type=PageReading).title == "The shore"
    assert msgspec.msgpack.decode(run("frame", FrameRequest("hello", URL)), type=Frame).content == "hello"


def test_a_look_reads_and_judges_in_one_call() -> None:
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


def test_a_wall_at_the_first_look_is_refused_and_later_a_failed_look_that_keeps_the_memory() -> None:
    wall = PageRequest(html("wait", title="Just a moment..."), "", URL)
    with pytest.raises(ContentError, match="challenge"):
        run("look_page", wall)
    first = msgspec.msgpack.decode(run("look_page", PageRequest(html(*PROSE), "", URL)), type=PageLook)
    later = msgspec.msgpack.decode(run("look_page", msgspec.structs.replace(wall, memory=first.memory)), type=PageLook)
    assert later.trouble is not None
    assert later.memory == first.memory
