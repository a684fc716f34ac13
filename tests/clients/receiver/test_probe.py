"""`sanderling probe` against our own receiver and against deliberately bad ones."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from random import Random

import pytest
import trio

from actors.egress.guard import Guard
from actors.egress.url import parse_url
from actors.signatures import jwks
from sanderling_client.receiver.cases import CASES, Forge, Should, Signer
from sanderling_client.receiver.listen import Listener, Wishes
from sanderling_client.receiver.probe import (
    Answered,
    Grade,
    Result,
    Target,
    closing,
    grade,
    judged,
    line,
    probe,
    table_json,
    target_of,
)
from sanderling_client.receiver.receipt import judge
from sanderling_client.receiver.report import Paper
from sanderling_client.receiver.terminal import UNREACHABLE, USAGE, Failed
from sanderling_client.verify import HEADERS, check_webhook, matching
from storage.records.identity import Millis
from tests.clients.receiver.deliveries import ANOTHER, KEY, NOW, SECRET
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, Serve, web

URL = "https://hook.test/in"


def now() -> Millis:
    return Millis(int((NOW + trio.current_time()) * 1000))


@asynccontextmanager
async def reached(serve: Serve) -> AsyncIterator[Callable[[], object]]:
    """Yield a function that probes a receiver at hook.test."""
    async with trio.open_nursery() as nursery:
        network = MemoryNetwork(nursery)
        network.add("hook.test", "93.184.216.35", serve, 443)
        guard = Guard(network, network, ())
        forge = Forge(SECRET, Signer(KEY.seed), now, Random(1))
        target = Target(URL, lambda: guard.open(parse_url(URL)))
        yield partial(probe, target, forge, tell=lambda result: None)
        nursery.cancel_scope.cancel()


async def results_of(serve: Serve) -> list[Result]:
    async with reached(serve) as start:
        return await start()  # type: ignore[no-any-return, misc]


def faults(results: list[Result]) -> set[str]:
    return {result.case.name for result in results if result.weight is not None}


def receiver(answer: Callable[[ReceivedRequest], int | Answer]) -> Serve:
    def reply(asked: ReceivedRequest) -> Answer:
        found = answer(asked)
        return found if isinstance(found, Answer) else Answer(found)

    return web(reply)


def headers(asked: ReceivedRequest) -> dict[str, str]:
    return {name: asked.headers[name] for name in HEADERS if name in asked.headers}


def right(asked: ReceivedRequest) -> bool:
    return check_webhook([SECRET], asked.headers, asked.body, now=now() // 1000).valid


async def test_our_own_receiver_does_everything_right(autojump_clock: object) -> None:
    wishes = Wishes(secrets=(SECRET,))
    listener = Listener(wishes, wall=lambda: now() / 1000, paper=Paper(), echo=lambda line: None)
    results = await results_of(listener.http.serve)
    assert [line(result) for result in results if result.weight] == []
    assert (grade(results), len(results)) == ("A", len(CASES))
    assert "not looked at" in line(results[-1])


async def test_a_receiver_that_checks_both_signatures_is_seen_to(autojump_clock: object) -> None:
    keys = json.loads(jwks([KEY]))

    def answer(asked: ReceivedRequest) -> int:
        found = judge(headers(asked), asked.body, secrets=[SECRET], keys=keys, now=now() // 1000)
        return 400 if found.failed else 204

    results = await results_of(receiver(answer))
    assert grade(results) == "A"
    assert line(results[-1]).endswith("the event's own signature is looked at")


async def test_a_receiver_that_accepts_everything_accepts_forgeries(autojump_clock: object) -> None:
    results = await results_of(receiver(lambda asked: 200))
    assert faults(results) == {case.name for case in CASES if case.should is Should.REFUSE}
    assert grade(results) == "F"


async def test_a_receiver_that_refuses_everything_fails_the_probe(autojump_clock: object) -> None:
    results = await results_of(receiver(lambda asked: 401))
    assert faults(results) == {case.name for case in CASES if case.should is Should.ACCEPT}
    assert grade(results) == "F"


def forgetful() -> Callable[[ReceivedRequest], int]:
    """Refuse duplicates as errors."""
    seen: set[str] = set()

    def answer(asked: ReceivedRequest) -> int:
        if not right(asked):
            return 400
        again = asked.headers["webhook-id"] in seen
        seen.add(asked.headers["webhook-id"])
        return 409 if again else 200

    return answer


def in_order() -> Callable[[ReceivedRequest], int]:
    newest = [""]

    def answer(asked: ReceivedRequest) -> int:
        if not right(asked):
            return 400
        before, newest[0] = newest[0], max(newest[0], asked.headers["webhook-id"])
        return 200 if asked.headers["webhook-id"] >= before else 422

    return answer


def without_freshness(asked: ReceivedRequest) -> int:
    given = headers(asked)
    if len(given) < 3:
        return 400
    return 200 if matching([SECRET], *given.values(), asked.body)[0] is not None else 400  # type: ignore[arg-type, call-arg]


def first_token_only(asked: ReceivedRequest) -> int:
    asked.headers["webhook-signature"] = asked.headers.get("webhook-signature", "").split(" ")[0]
    return 200 if right(asked) else 400


def parsed_first(asked: ReceivedRequest) -> int:
    """Verify its own re-serialisation: only a sender with the same JSON format passes."""
    try:
        asked.body = json.dumps(json.loads(asked.body), separators=(",", ":"), ensure_ascii=False).encode()
    except ValueError:
        return 400
    return 200 if right(asked) else 400


def in_ascii(asked: ReceivedRequest) -> int:
    asked.body = asked.body.decode("ascii", "replace").encode()
    return 200 if right(asked) else 400


def breaks_when_refusing(asked: ReceivedRequest) -> int:
    return 200 if right(asked) else 500


def small(asked: ReceivedRequest) -> int:
    if len(asked.body) > 32768:
        return 413
    return 200 if right(asked) else 400


def strict_about_shape(asked: ReceivedRequest) -> int:
    if not right(asked):
        return 400
    known = "source_id" in json.loads(asked.body) and b"in_a_later_version" not in asked.body
    return 200 if known else 422


def slow(asked: ReceivedRequest) -> Answer:
    return Answer(200 if right(asked) else 400, after=6.0)


def final(asked: ReceivedRequest) -> int:
    return 200 if right(asked) else 410


def moved(asked: ReceivedRequest) -> Answer:
    return Answer(308, headers={"location": "https://elsewhere.test/"}) if right(asked) else Answer(400)


def dead(asked: ReceivedRequest) -> Answer:
    """Never answer a request that it does not like."""
    return Answer(200) if right(asked) else Answer(200, body=b"x", cut=0, after=20.0)


ALL = {case.name for case in CASES}
REFUSED = {case.name for case in CASES if case.should is Should.REFUSE}
ACCEPTED = {case.name for case in CASES if case.should is Should.ACCEPT}


@pytest.mark.parametrize(
    ("make", "at_fault", "mark"),
    [
        (forgetful, {"the same again"}, "C"),
        (lambda: without_freshness, {"6 minutes old", "6 minutes ahead"}, "C"),
        (lambda: first_token_only, {"two signatures", "other schemes beside"}, "C"),
        (lambda: parsed_first, {"re-serialised"}, "C"),
        (lambda: in_ascii, {"all of Unicode"}, "C"),
        (lambda: breaks_when_refusing, REFUSED, "B"),
        (lambda: small, {"64 KiB of content"}, "C"),
        (lambda: strict_about_shape, {"a digest", "a later version"}, "B"),
        (lambda: slow, ALL, "B"),
        (lambda: final, REFUSED, "D"),
        (lambda: moved, ACCEPTED | {"forged inside"}, "D"),
        (lambda: dead, REFUSED, "B"),
    ],
)
async def test_each_bad_habit_is_found_and_nothing_else(
    make: Callable[[], Callable[[ReceivedRequest], int | Answer]],
    at_fault: set[str],
    mark: Grade,
    autojump_clock: object,
) -> None:
    results = await results_of(receiver(make()))
    assert faults(results) == at_fault
    assert grade(results) == mark
    assert all(result.fault for result in results if result.weight is not None)


async def test_a_receiver_that_insists_on_order_is_found(autojump_clock: object) -> None:
    results = await results_of(receiver(in_order()))
    assert {"newer before older"} <= faults(results) <= {"newer before older", "four at once"}
    assert grade(results) == "C"


async def test_a_receiver_that_is_not_there_is_an_error_and_no_grade() -> None:
    async def hang_up(stream: trio.abc.Stream) -> None:
        await stream.aclose()

    async with reached(hang_up) as start:
        with pytest.raises(Failed, match="no answer: the connection was closed") as caught:
            await start()  # type: ignore[misc]
    assert caught.value.exit_code == UNREACHABLE


async def test_an_answer_that_is_no_http_is_a_fault_and_not_a_crash(autojump_clock: object) -> None:
    first = [True]

    async def serve(stream: trio.abc.Stream) -> None:
        await stream.receive_some()
        words = b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n" if first.pop() else b"\x1b[31mhello\r\n\r\n"
        first.append(False)
        await stream.send_all(words)

    results = await results_of(serve)
    assert results[0].weight is None
    assert "no answer" in results[1].fault
    assert "\x1b" not in "".join(map(line, results))


async def test_an_early_answer_counts_even_when_the_body_could_not_be_sent(autojump_clock: object) -> None:
    async def refuse_at_once(stream: trio.abc.Stream) -> None:
        await stream.receive_some(10)
        await stream.send_all(b"HTTP/1.1 413 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    results = await results_of(refuse_at_once)
    assert {answer.status for result in results for answer in result.answers} == {413}


async def test_good_deliveries_are_good_and_forged_ones_are_not(autojump_clock: object) -> None:
    forge, keys = Forge(SECRET, Signer(KEY.seed), now, Random(2)), json.loads(jwks([KEY]))
    for case in CASES:
        for posting in case.make(forge):
            found = judge(posting.headers, posting.body, secrets=[SECRET], keys=keys, now=now() // 1000)
            assert found.failed == (case.should is not Should.ACCEPT), case.name
            stranger = judge(posting.headers, posting.body, secrets=[ANOTHER], keys=None, now=now() // 1000)
            assert stranger.webhook.failed


async def test_the_table_and_the_json_say_the_same() -> None:
    results = [
        judged(CASES[0], [Answered(200, 12)]),
        judged(CASES[1], [Answered(200, 3), Answered(409, 5)]),
        judged(CASES[-2], [Answered(None, 9, "the connection was reset")]),
    ]
    rows = [line(result).split() for result in results]
    assert rows[0] == ["ok", "good", "2xx", "200", "12", "ms"]
    assert rows[1][:7] == ["MAJOR", "the", "same", "again", "2xx", "200", "409"]
    assert rows[2][:4] == ["MINOR", CASES[-2].name, "4xx", "-"]
    assert next(closing(results)).startswith("Grade C")
    found = json.loads(table_json(results))
    assert (found["grade"], [row["weight"] for row in found["cases"]]) == ("C", [None, "major", "minor"])


@pytest.mark.parametrize(
    "url", ["ftp://a.test/", "a.test", "https://u:p@a.test/", "https://a.test:x/", "https://ä.test/"]
)
def test_an_address_that_is_none_is_a_usage_error(url: str) -> None:
    with pytest.raises(Failed) as caught:
        target_of(url)
    assert caught.value.exit_code == USAGE


def test_a_target_keeps_port_path_and_query() -> None:
    target = target_of("https://a.test:8443/in?x=1")
    assert (target.authority, target.path, target_of("http://a.test").path) == ("a.test:8443", "/in?x=1", "/")
