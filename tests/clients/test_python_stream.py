"""The Python client's stream yields each event once and in order, wherever a connection breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import pairwise

import httpx
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from api.streams.sse import damaged
from sanderling_client import AnswerError, AsyncClient, Client, ProblemError, Received, StreamLost, refusals
from sanderling_client.stream import LARGEST, LONGEST_WAIT, Frames
from storage.records.event import Stored
from storage.records.identity import START, id_of
from tests.api.clients.cutting import cutting
from tests.api.clients.test_clients import EVENTS, write
from tests.api.house import ids, on_loopback
from tests.clients.log import BEFORE, SSE, CutService, Logged, a_log, a_problem, answer_after
from tests.support.waiting import HANG

LOG = a_log(3, "Å\u2028")
BODY = answer_after(LOG, BEFORE)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Make the blocking client's waits instant, and record them."""
    waited: list[float] = []
    monkeypatch.setattr("sanderling_client.stream.time.sleep", waited.append)
    return waited


def blocking(service: CutService, count: int, **options: object) -> list[Received]:
    http = httpx.Client(transport=service)
    with Client("http://sanderling.test", "svc_x", http=http).stream(since=BEFORE, **options) as events:
        return [next(events) for _ in range(count)]


async def awaited(service: CutService, count: int, **options: object) -> list[Received]:
    http = httpx.AsyncClient(transport=service)
    async with AsyncClient("http://sanderling.test", "svc_x", http=http).stream(since=BEFORE, **options) as events:
        return [await anext(events) for _ in range(count)]


def same(taken: list[Received], log: list[Logged]) -> bool:
    return [one.id for one in taken] == [one.id for one in log] and [one.event.id for one in taken] == [
        one.id for one in log
    ]


@pytest.mark.parametrize("broken", [True, False], ids=["reset", "ended"])
def test_a_stream_cut_at_any_byte_resumes_there(waits: list[float], broken: bool) -> None:
    for left in range(0, len(BODY), 1 if broken else 5):
        service = CutService(LOG, lambda number, left=left: None if number else left, broken=broken)
        taken = blocking(service, 3)
        assert same(taken, LOG), f"cut after {left} bytes"
        assert service.asked in ([BEFORE], [BEFORE, BEFORE], [BEFORE, LOG[0].id], [BEFORE, LOG[1].id])


async def test_cut_at_every_byte_it_goes_on_awaited_too(autojump_clock: object) -> None:
    for left in range(0, len(BODY), 7):
        service = CutService(LOG, lambda number, left=left: None if number else left)
        assert same(await awaited(service, 3), LOG), f"cut after {left} bytes"


def test_cut_at_every_answer_byte_by_byte_it_ends_with_exactly_the_log(waits: list[float]) -> None:
    long = a_log(12)
    service = CutService(long, lambda number: 400 + number * 97 % 900, size=1)
    assert same(blocking(service, 12), long)
    assert len(service.asked) > 6


@given(st.lists(st.integers(0, len(BODY)), max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_pieces_and_ends_of_lines_do_not_matter(cuts: list[int], end: bytes) -> None:
    """A proxy may rewrite line ends, and a piece may split a CRLF."""
    body = BODY.replace(b"\n", end)
    edges = [0, *sorted(cuts), len(body)]
    frames, taken = Frames(), []
    for start, stop in pairwise(edges):
        taken += frames.feed(body[start:stop])
    assert same(taken, LOG)
    assert (frames.retry, frames.ended) == (4.0, "the service stops")


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    frames = Frames()
    with pytest.raises(AnswerError, match="longer than any event"):
        for _ in range(LARGEST // (1 << 20) + 1):
            frames.feed(b"x" * (1 << 20))


def test_nothing_is_read_before_it_is_requested() -> None:
    read = []

    class Counted(CutService):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            answer = super().handle_request(request)

            class Watched(httpx.SyncByteStream):
                def __iter__(self) -> Iterator[bytes]:
                    for piece in answer.stream:  # type: ignore[union-attr]
                        read.append(len(piece))
                        yield piece

            return httpx.Response(200, headers=SSE, stream=Watched())

    long = a_log(50)
    http = httpx.Client(transport=Counted(long, lambda number: None, size=100))
    with Client("http://sanderling.test", http=http).stream(since=BEFORE) as events:
        next(events)
        assert sum(read) < len(answer_after(long, BEFORE)) / 25
        assert same([next(events) for _ in range(49)], long[1:])


# --- ends ------------------------------------------------------------------------------------------------------------


def test_a_stop_of_the_service_is_waited_for_as_it_asks(waits: list[float]) -> None:
    service = CutService(LOG, lambda number: None, refuse=lambda number: a_problem(404, "x") if number else None)
    with Client("http://sanderling.test", http=httpx.Client(transport=service)).stream(since=BEFORE) as events:
        assert same([next(events) for _ in range(3)], LOG)
        with pytest.raises(ProblemError):
            next(events)
    assert (events.ended, events.cuts, events.cursor) == ("the service stops", 1, LOG[2].id)
    assert 4.0 <= waits[-1] <= 5.0


def test_a_damaged_service_is_left_alone_for_a_minute() -> None:
    frames = Frames()
    frames.feed(damaged("sse"))
    assert (frames.retry, frames.ended) == (60.0, "the database is damaged; a backup must be restored")


@pytest.mark.parametrize(
    ("status", "slug", "kind"),
    [
        (401, "unauthorized", refusals.Unauthorized),
        (403, "forbidden", refusals.Forbidden),
        (404, "not-found", refusals.NotFound),
        (410, "cursor-expired", refusals.CursorExpired),
        (418, "of-a-later-version", ProblemError),
    ],
)
def test_a_permanent_error_is_raised_as_itself(
    waits: list[float], status: int, slug: str, kind: type[ProblemError]
) -> None:
    """After two events, as when a key is deleted or retention has overtaken the reader."""
    third = BODY.index(LOG[2].id.encode())
    service = CutService(LOG, lambda number: third, refuse=lambda number: a_problem(status, slug) if number else None)
    with pytest.raises(kind) as raised:
        blocking(service, 3)
    assert (type(raised.value), raised.value.status, raised.value.slug) == (kind, status, slug)
    assert service.asked == [BEFORE, LOG[1].id]


def test_a_temporary_error_is_retried_after_its_retry_after(waits: list[float]) -> None:
    refused = {0: a_problem(429, "rate-limited", **{"Retry-After": "17"}), 1: httpx.Response(502, content=b"<html>")}
    service = CutService(LOG, lambda number: None, refuse=refused.get)
    assert same(blocking(service, 3), LOG)
    assert waits[0] == 0.0 and 17 <= waits[1] <= 17 * 1.25 and 6 <= waits[2] <= 6 * 1.25


def test_waits_double_to_a_bound_and_end_after_the_given_count(waits: list[float]) -> None:
    service = CutService(LOG, lambda number: None, refuse=lambda number: a_problem(503, "unavailable"))
    with pytest.raises(StreamLost) as lost:
        blocking(service, 1, give_up=7)
    assert (len(service.asked), lost.value.cursor) == (8, None)
    assert isinstance(lost.value.__cause__, refusals.Unavailable)
    least = [wait / 1.25 <= bound <= wait for wait, bound in zip(waits[1:], (3, 6, 12, 24, 30, 30, 30), strict=True)]
    assert all(least) and max(waits) <= LONGEST_WAIT * 1.25


@pytest.mark.parametrize("url", ["gopher://sanderling.test", "sanderling.test:8080", "http://", ""])
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="begins with http"):
        Client(url)


def test_a_page_in_place_of_a_stream_is_an_error_and_no_cut() -> None:
    """Another server has the address, or a captive portal asks for a sign-in."""
    http = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, html="<h1>Welcome</h1>")))
    with Client("http://sanderling.test", http=http).stream() as events, pytest.raises(ProblemError, match="Welcome"):
        next(events)


def test_a_stream_without_a_cursor_resumes_from_its_start(waits: list[float]) -> None:
    service = CutService(LOG, lambda number: None if number else 5)
    with Client("http://sanderling.test", http=httpx.Client(transport=service)).stream() as events:
        assert same([next(events) for _ in range(3)], LOG)
    assert service.asked == [BEFORE, BEFORE] and events.cuts == 1


def test_earliest_stays_earliest_until_there_is_an_event(waits: list[float]) -> None:
    """The id behind `earliest` may be too old a moment later."""
    asked = []

    def earliest(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.params["since"], request.headers.get("Last-Event-ID")))
        headers = {"Sanderling-Replay-From": BEFORE, **SSE}
        return httpx.Response(200, headers=headers, content=BODY if len(asked) > 1 else b"")

    http = httpx.Client(transport=httpx.MockTransport(earliest))
    with Client("http://sanderling.test", http=http).stream(since="earliest") as events:
        next(events)
    assert asked == [("earliest", None), ("earliest", None)]


# --- the real application --------------------------------------------------------------------------------------------


def _blocks(url: str, key: str) -> list[Received]:
    with Client(url, key) as client, client.stream(since=id_of(START, 0)) as events:
        return [next(events) for _ in range(EVENTS)]


async def _waits(url: str, key: str) -> list[Received]:
    async with AsyncClient(url, key) as client, client.stream(since=id_of(START, 0)) as events:
        return [await anext(events) for _ in range(EVENTS)]


def _on_asyncio(url: str, key: str) -> list[Received]:
    return asyncio.run(_waits(url, key))


@pytest.mark.real
@pytest.mark.parametrize("way", ["blocking", "asyncio", "trio"])
async def test_cut_at_random_bytes_by_a_proxy_it_ends_with_exactly_the_log(way: str) -> None:
    log: list[Stored] = []
    taken: list[Received] = []
    async with on_loopback() as (house, port), cutting(port, seed=11) as (proxy, reached_at):
        url, key = f"http://127.0.0.1:{reached_at}", await house.key()
        with trio.fail_after(HANG):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(write, house, log)
                if way == "trio":
                    taken += await _waits(url, key)
                else:
                    program: Callable[[str, str], list[Received]] = _blocks if way == "blocking" else _on_asyncio
                    taken += await trio.to_thread.run_sync(program, url, key, abandon_on_cancel=True)
    assert [one.id for one in taken] == ids(log)
    assert proxy.cuts > 10, "it was cut off often"
