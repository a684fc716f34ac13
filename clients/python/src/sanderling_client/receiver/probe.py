"""`probe`: send deliveries of every kind to one receiver and grade its responses, at any pace."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import click
import h11
import msgspec
import trio

from sanderling_client.receiver.cases import CASES, Case, Forge, Posting, Should, Weight
from sanderling_client.receiver.terminal import FAILED, UNREACHABLE, USAGE, Failed, harmless, plain

PROMPT_MS = 5000
"""A slower receiver is close to the 15 seconds after which a delivery fails."""
Grade = Literal["A", "B", "C", "D", "F"]
SAYS: dict[Grade, str] = {
    "A": "it does everything right",
    "B": "it is sound, with small faults",
    "C": "it will lose or repeat deliveries now and then",
    "D": "it will lose or repeat many deliveries",
    "F": "it lets forgeries in, or good deliveries not",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of one request. status: None without a response; `error` then explains. latency_ms: since the last
    byte sent, or since the beginning if sending failed.
    """

    status: int | None
    latency_ms: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A case and its responses. weight, fault: None and empty if correct."""

    case: Case
    answers: tuple[Answered, ...]
    weight: Weight | None
    fault: str

    @property
    def slowest_ms(self) -> int:
        """The longest wait for a response."""
        return max(answer.latency_ms for answer in self.answers)


def judged(case: Case, answers: Sequence[Answered]) -> Result:
    """Judge a case by its worst response."""
    faults = [fault for answer in answers if (fault := _fault(case, answer)) is not None]
    weight, words = min(faults, key=lambda fault: [*Weight].index(fault[0]), default=(None, ""))
    return Result(case, tuple(answers), weight, words)


def _fault(case: Case, answer: Answered) -> tuple[Weight, str] | None:
    status = answer.status
    if status is None:
        # If refusal is expected, a cut connection counts as rude refusal; the service would retry.
        weight = case.weight if case.should is Should.ACCEPT else Weight.MINOR
        return weight, f"no answer: {answer.error}"
    if status == 410:
        return Weight.MAJOR, "410 means: never again. The destination would be disabled"
    if 300 <= status < 400:
        return Weight.MAJOR, "redirects are not followed, and count as failures"
    accepted = 200 <= status < 300
    if case.should is Should.ACCEPT and not accepted:
        return case.weight, case.fault
    if case.should is Should.REFUSE and accepted:
        return case.weight, case.fault
    if status >= 500:
        return Weight.MINOR, "refused, but by breaking: answer 400"
    if answer.latency_ms > PROMPT_MS:
        return Weight.MINOR, f"slow: answer first and work later; after {PROMPT_MS // 1000} s it is late"
    return None


def grade(results: Sequence[Result]) -> Grade:
    """Return the overall grade.

    F for a vital fault; D for three or more major ones, C for fewer; B for minor ones only; A for none.
    """
    weights = [result.weight for result in results if result.weight is not None]
    if Weight.VITAL in weights:
        return "F"
    major = weights.count(Weight.MAJOR)
    if major:
        return "D" if major > 2 else "C"
    return "B" if weights else "A"


PATIENCE = 15.0
"""Seconds until a delivery counts as failed."""
PIECES = 12


@dataclass(frozen=True, slots=True)
class Target:
    """The receiver. connect: opens a connection, with TLS if its address has it; raises OSError."""

    url: str
    connect: Callable[[], Awaitable[trio.abc.Stream]]

    @property
    def authority(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def path(self) -> str:
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def target_of(url: str) -> Target:
    """Return the target at a URL, wherever it is. Raises Failed."""
    try:
        parts = urlsplit(url)
        host, secure = (parts.hostname or "").encode("idna").decode(), parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
    except ValueError as error:
        raise Failed(f"{plain(url)}: {error}.", USAGE) from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or not url.isascii():
        raise Failed(f"{plain(url)}: write a complete URL: http or https, a host in ASCII, no password.", USAGE)

    async def connect() -> trio.abc.Stream:
        if secure:
            context = ssl.create_default_context()
            return await trio.open_ssl_over_tcp_stream(host, port, ssl_context=context, https_compatible=True)
        return await trio.open_tcp_stream(host, port)

    return Target(url, connect)


async def post(target: Target, posting: Posting) -> Answered:
    """Send a request on a new connection and return the result. Failures are results, too."""
    start = trio.current_time()
    sent: list[float] = []
    try:
        with trio.fail_after(PATIENCE + posting.seconds):
            stream = await target.connect()
            try:
                status = await _exchange(stream, target, posting, sent)
            finally:
                await trio.aclose_forcefully(stream)
    except (OSError, h11.RemoteProtocolError, trio.BrokenResourceError, trio.TooSlowError) as error:
        return Answered(None, _since(sent or [start]), _error_words(error))
    return Answered(status, _since(sent or [start]))


async def _exchange(stream: trio.abc.Stream, target: Target, posting: Posting, sent: list[float]) -> int:
    """Return the response's status; append the time of the last byte to `sent`. Raises RemoteProtocolError,
    BrokenResourceError.
    """
    connection = h11.Connection(h11.CLIENT)
    # A receiver may respond and close before reading everything: the response counts.
    with suppress(trio.BrokenResourceError):
        await _send_request(stream, connection, target, posting)
        sent.append(trio.current_time())
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            data = bytes(await stream.receive_some(16384))
            if not data:
                raise h11.RemoteProtocolError("the connection was closed without an answer")
            connection.receive_data(data)
        elif isinstance(event, h11.Response):
            return int(event.status_code)


async def _send_request(stream: trio.abc.Stream, connection: h11.Connection, target: Target, posting: Posting) -> None:
    headers = [
        ("Host", target.authority),
        ("User-Agent", "sanderling-receiver"),
        ("Content-Type", "application/json"),
        *posting.headers.items(),
        ("Content-Length", str(len(posting.body))),
        ("Accept-Encoding", "identity"),
    ]
    head = connection.send(h11.Request(method="POST", target=target.path, headers=headers))
    await stream.send_all(head or b"")
    size = len(posting.body) if not posting.seconds else len(posting.body) // PIECES + 1
    for place in range(0, len(posting.body), max(1, size)):
        if place:
            await trio.sleep(posting.seconds / PIECES)
        await stream.send_all(connection.send(h11.Data(data=posting.body[place : place + size])) or b"")
    connection.send(h11.EndOfMessage())


def _since(moments: list[float]) -> int:
    return round(1000 * (trio.current_time() - moments[-1]))


def _error_words(error: Exception) -> str:
    match error:
        case trio.TooSlowError():
            return f"none within {PATIENCE:g} s"
        case trio.BrokenResourceError():
            return "the connection was reset"
        case _:
            return str(error)


async def probe(
    target: Target, forge: Forge, *, cases: Sequence[Case] = CASES, tell: Callable[[Result], None]
) -> list[Result]:
    """Send all cases one after the other and return the results.

    Raises Failed if the first request gets no response: there is nothing to judge.
    """
    results: list[Result] = []
    for case in cases:
        answers = await _send(target, case.make(forge), together=case.together)
        if not results and answers[0].status is None:
            raise Failed(f"{target.url}: no answer: {plain(answers[0].error)}.", UNREACHABLE)
        results.append(judged(case, answers))
        tell(results[-1])
    return results


async def _send(target: Target, postings: Sequence[Posting], *, together: bool) -> list[Answered]:
    if not together:
        return [await post(target, posting) for posting in postings]
    answers: dict[int, Answered] = {}

    async def send(number: int) -> None:
        answers[number] = await post(target, postings[number])

    async with trio.open_nursery() as nursery:
        for number in range(len(postings)):
            nursery.start_soon(send, number)
    return [answers[number] for number in sorted(answers)]


def line(result: Result) -> str:
    """Return a result as a table row."""
    should = {Should.ACCEPT: "2xx", Should.REFUSE: "4xx", Should.EITHER: "any"}[result.case.should]
    statuses = dict.fromkeys("-" if answer.status is None else str(answer.status) for answer in result.answers)
    mark = "ok" if result.weight is None else result.weight.value.upper()
    did = " ".join(statuses)
    words = plain(result.fault) or _aside(result)
    return f"{mark:<6} {result.case.name:<22} {should:<5} {did:<12} {result.slowest_ms:>6} ms  {words}".rstrip()


def _aside(result: Result) -> str:
    if result.case.should is not Should.EITHER:
        return ""
    looks = all(answer.status is not None and answer.status >= 400 for answer in result.answers)
    return f"the event's own signature is {'' if looks else 'not '}looked at"


def closing(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines below the table."""
    found = grade(results)
    faults = sum(result.weight is not None for result in results)
    yield f"Grade {found}: {SAYS[found]} ({faults} of {len(results)} cases at fault)."


def table_json(results: Sequence[Result]) -> str:
    """Return the whole table as JSON."""
    rows: list[dict[str, Any]] = [
        {
            "case": result.case.name,
            "should": result.case.should.value,
            "fault": result.fault or None,
            "weight": None if result.weight is None else result.weight.value,
            "answers": [{"status": a.status, "latency_ms": a.latency_ms, "error": a.error} for a in result.answers],
        }
        for result in results
    ]
    return msgspec.json.encode({"grade": grade(results), "cases": rows}).decode()


async def run(target: Target, forge: Forge, *, as_json: bool) -> int:
    """Probe a receiver and print the table; return 0 for grades A and B. Raises Failed."""

    def tell(result: Result) -> None:
        if not as_json:
            click.echo(line(result))

    if not as_json:
        click.echo(f"{'':<6} {'case':<22} {'should':<5} {'did':<12} {'took':>9}")
    results = await probe(target, forge, tell=tell)
    for words in [harmless(table_json(results))] if as_json else closing(results):
        click.echo(words)
    return 0 if grade(results) in ("A", "B") else FAILED
