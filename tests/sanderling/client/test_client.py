"""The terminal's client: resumes where it was, gives up when retries won't help, and explains why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
from httpx_sse import ServerSentEvent

from sanderling.client.api import DEFAULT_URL, Client, events_of
from sanderling.exits import CommandFailed, Exit

Answer = httpx.Response | Exception


class Frames(httpx.AsyncByteStream):
    """A body that ends after its chunks, or breaks."""

    def __init__(self, *chunks: bytes, breaks: bool = False) -> None:
        self._chunks, self._breaks = chunks, breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self._breaks:
            raise httpx.ReadError("connection reset")


def scripted(answers: Sequence[Answer], asked: list[httpx.Request]) -> httpx.MockTransport:
    """Give one answer after the other; then end the test's world."""

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        answer = answers[len(asked) - 1] if len(asked) <= len(answers) else httpx.Response(404, json={"title": "over"})
        if isinstance(answer, Exception):
            raise answer
        return answer

    return httpx.MockTransport(handle)


def stream(*chunks: bytes, breaks: bool = False, origin: str = "") -> httpx.Response:
    headers = {"Content-Type": "text/event-stream"} | ({"Sanderling-Replay-From": origin} if origin else {})
    return httpx.Response(200, headers=headers, stream=Frames(*chunks, breaks=breaks))


async def follow(
    answers: Sequence[Answer], tell: Callable[[str], None] = lambda _words: None
) -> tuple[list[str], list[str], CommandFailed]:
    """Follow a scripted stream to its end; return the data, the cursors sent, and the final error."""
    asked: list[httpx.Request] = []
    taken: list[ServerSentEvent] = []
    async with Client("http://service.test", "svc_k", scripted(answers, asked)) as client:
        with pytest.raises(CommandFailed) as caught:
            await client.follow("/v1/stream", [("tag", "a")], taken.append, tell)
    cursors = [request.headers.get("Last-Event-ID", "") for request in asked]
    return [event.data for event in taken], cursors, caught.value


async def test_after_a_disconnect_it_resumes_after_the_last_complete_event(autojump_clock: object) -> None:
    answers = [stream(b"data: 1\nid: a\n\ndata: 2\nid: b\n", breaks=True), stream(b"data: 2\nid: b\n\n")]
    taken, cursors, _ = await follow(answers)
    assert taken == ["1", "2"]
    assert cursors == ["", "a", "b"]


async def test_a_disconnect_before_the_first_event_resumes_at_the_start(autojump_clock: object) -> None:
    _, cursors, _ = await follow([stream(b"retry: 100\n\n", origin="where-it-began")])
    assert cursors == ["", "where-it-began"]


async def test_the_waits_grow_and_follow_the_services_hint(autojump_clock: object) -> None:
    began, said = trio.current_time(), list[str]()
    busy = httpx.Response(503, json={"title": "busy"})
    await follow([stream(b"retry: 2000\n\n"), busy, busy, stream()], said.append)
    assert trio.current_time() - began == pytest.approx(2 + 4 + 8 + 2)
    assert [words for words in said if words == "connected again"] == ["connected again"]


async def test_a_service_that_was_never_there_is_not_waited_for() -> None:
    _, cursors, ended = await follow([httpx.ConnectError("refused")])
    assert (len(cursors), ended.code) == (1, Exit.UNREACHABLE)


async def test_a_service_that_went_away_is_waited_for(autojump_clock: object) -> None:
    taken, _, _ = await follow([stream(), httpx.ConnectError("refused"), stream(b"data: back\n\n")])
    assert taken == ["back"]


@pytest.mark.parametrize("status", [401, 403, 404, 410])
async def test_a_refusal_that_does_not_pass_ends_it(status: int, autojump_clock: object) -> None:
    _, cursors, ended = await follow([stream(), httpx.Response(status, json={"title": "no", "detail": "Because."})])
    assert len(cursors) == 2
    assert (ended.code, "Because." in ended.message) == (Exit.FAILED, True)


@pytest.mark.parametrize("before", [[], [stream()]], ids=["at first", "after a cut"])
async def test_an_answer_that_is_no_stream_ends_it_with_a_sentence(
    before: Sequence[Answer], autojump_clock: object
) -> None:
    _, cursors, ended = await follow([*before, httpx.Response(200, html="<title>Welcome</title>")])
    assert (len(cursors), ended.code) == (len(before) + 1, Exit.FAILED)
    assert "answered 200 with text/html instead of an event stream" in ended.message


async def test_a_hint_below_zero_is_no_hint(autojump_clock: object) -> None:
    taken, _, _ = await follow([stream(b"retry: -1000\n\n"), stream(b"data: again\n\n")])
    assert taken == ["again"]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
async def test_events_are_the_same_for_any_cut_of_chunks(end: bytes) -> None:
    whole = "id: 1|event: feed|data: é\u2028 1|data: 2||: c||data: 3|id: 2||id: 3|retry: 9||".encode().replace(
        b"|", end
    )
    for cut in range(len(whole)):
        events = [event async for event in events_of(stream(whole[:cut], whole[cut:]))]
        assert [(event.event, event.data, event.id) for event in events] == [
            ("feed", "é\u2028 1\n2", "1"),
            ("message", "3", "2"),
        ]


async def told(problem: dict[str, Any] | None, status: int, **headers: str) -> CommandFailed:
    """Return the terminal's error for an answer."""
    answer = httpx.Response(status, text="<html>", headers=headers)
    if problem is not None:
        problem |= {"type": f"https://watch.test/problems/{problem.get('type', 'unprocessable')}"}
        answer = httpx.Response(status, json=problem, headers=headers)
    async with Client("http://service.test", "k", scripted([answer], [])) as client:
        with pytest.raises(CommandFailed) as caught:
            await client.ask("POST", "/v1/sources")
    return caught.value


NO_PAGE = "it can't be watched now: answered 404 Not Found"


@pytest.mark.parametrize(
    ("problem", "status", "says"),
    [
        (
            {"detail": NO_PAGE, "errors": [{"location": "body.url", "message": NO_PAGE}]},
            422,
            "It can't be watched now: answered 404 Not Found.",
        ),
        (
            {
                "detail": "body.backfill: Expected `int` <= 50",
                "errors": [
                    {"location": "body.backfill", "message": "Expected `int` <= 50 - at `$.backfill`"},
                    {"location": "body.source_ids[3]", "message": "must be ids"},
                ],
            },
            400,
            "Backfill: a number, 50 or less. Source ids: must be ids.",
        ),
        (
            {"detail": "Topic is needed", "errors": [{"location": "body.options.topic", "message": "Topic is needed"}]},
            422,
            "--option topic=...: Topic is needed.",
        ),
        (
            {"type": "url-refused", "detail": "U+0020 (a space or other) in a URL (rule: url-character)"},
            422,
            "An address has no spaces and no invisible characters. Type %20 in the place of a space.",
        ),
        (
            {
                "type": "url-refused",
                "detail": "a.test: 10.0.0.1 is not public; SANDERLING_ALLOW_NETWORKS=10.0.0.1/32 would open it"
                " (rule: address-private)",
            },
            422,
            "a.test: 10.0.0.1 is not a public address. To reach it, start the service with --allow-networks "
            "10.0.0.1/32.",
        ),
        ({"type": "url-refused", "detail": "redirects to ftp (rule: url-scheme)"}, 422, "Redirects to ftp."),
        ({"type": "forbidden", "detail": "The key lacks x."}, 403, "The key lacks x. `bin/sanderling keys list` shows"),
        ({"type": "rate-limited", "detail": "Too many."}, 429, "Too many. Try again in 7 s."),
        ({"type": "unavailable", "detail": "down; try again in 9 s"}, 503, "Down; try again in 9 s."),
        (
            {"type": "internal", "detail": "It broke."},
            500,
            "It broke. The service's log says more, at request_id ab12.",
        ),
        (
            {"type": "not-found", "detail": "There is nothing at this path."},
            404,
            "There is nothing at this path. Is the",
        ),
        ({"detail": "a \x1b[31m red one"}, 422, "A \\x1b[31m red one."),
        (None, 502, "http://service.test answered 502 Bad Gateway, unlike Sanderling. Check the address."),
    ],
)
async def test_a_refusal_is_reported_once_in_words(problem: dict[str, Any] | None, status: int, says: str) -> None:
    error = await told(problem, status, **{"Retry-After": "7", "X-Request-Id": "ab12"})
    assert error.message.startswith(says) and (says[-1] not in ".?" or error.message == says)
    assert "/v1/" not in error.message and "body" not in error.message and "rule:" not in error.message
    assert error.code == (Exit.TRY_AGAIN if status in (429, 502, 503) else Exit.FAILED)


async def test_a_long_list_is_read_page_by_page_from_the_same_service() -> None:
    asked: list[httpx.Request] = []
    link = {"Link": '<https://public.test/v1/sources?cursor=c2>; rel="next"'}
    answers = [httpx.Response(200, json=[{"id": 1}], headers=link), httpx.Response(200, json=[{"id": 2}])]
    async with Client("http://service.test", "k", scripted(answers, asked)) as client:
        assert [source["id"] async for source in client.every("/v1/sources")] == [1, 2]
    assert str(asked[1].url) == "http://service.test/v1/sources?cursor=c2"


def test_the_key_comes_from_a_file_or_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("Key made.\nsvc_from_file\n")
    with pytest.raises(CommandFailed, match="keys create"):
        Client.named(None, None, {})
    with pytest.raises(CommandFailed, match="Could not read"):
        Client.named(None, str(tmp_path / "absent"), {"SANDERLING_KEY": "x"})
    assert Client.named(None, str(file), {}).url == DEFAULT_URL
    assert (
        Client.named(None, None, {"SANDERLING_KEY": "x", "SANDERLING_URL": "https://s.test/"}).url == "https://s.test"
    )


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x", "http://x:port"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        Client(url, "k")
    assert caught.value.code == Exit.USAGE
