"""`sanderling probe`: send deliveries of every kind to one receiver and judge its responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_address
from typing import Any

import click
import msgspec
import trio

from actors.egress.failures import LookFailed
from actors.egress.guard import Guard
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.settings import Network
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import shown
from sanderling.receiver.cases import CASES, Case, Forge, Posting, Should
from sanderling.receiver.grades import SAYS, Answered, Result, grade, judged
from sanderling.receiver.post import post
from storage.records.secrecy import plain

OPENING = "--allow-networks opens networks of your own"


async def admitted(text: str, guard: Guard, networks: Sequence[Network]) -> Url:
    """Return the URL if it may be a destination: public https, or in an allowed network. Raises CommandFailed."""
    try:
        url = parse_url(text, schemes=("http", "https"))
        addresses = [ip_address(address) for address in await guard.check(url)]
    except UrlRefused as refusal:
        raise CommandFailed(f"{plain(text)}: {refusal.words_inside}.", Exit.USAGE) from None
    except LookFailed as failure:
        raise CommandFailed(f"{plain(text)}: {failure.reason}.", Exit.UNREACHABLE) from None
    if not url.secure and not all(any(address in network for network in networks) for address in addresses):
        raise CommandFailed(f"{url}: a destination is https; {OPENING}.", Exit.USAGE)
    return url


async def probe(
    url: Url, guard: Guard, forge: Forge, *, cases: Sequence[Case] = CASES, tell: Callable[[Result], None]
) -> list[Result]:
    """Send all cases one after the other and return the results.

    Raises CommandFailed if the first request gets no response: there is nothing to judge.
    """
    results: list[Result] = []
    for case in cases:
        answers = await _send(url, guard, case.make(forge), together=case.together)
        if not results and answers[0].status is None:
            raise CommandFailed(f"{url}: no answer: {plain(answers[0].error)}.", Exit.UNREACHABLE)
        results.append(judged(case, answers))
        tell(results[-1])
    return results


async def _send(url: Url, guard: Guard, postings: Sequence[Posting], *, together: bool) -> list[Answered]:
    if not together:
        return [await post(guard, url, posting) for posting in postings]
    answers: dict[int, Answered] = {}

    async def send(number: int) -> None:
        answers[number] = await post(guard, url, postings[number])

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


def as_json(results: Sequence[Result]) -> str:
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


def run(text: str, guard: Guard, networks: Sequence[Network], forge: Forge, *, json: bool) -> int:
    """Probe a URL and print the table; return 0 for grades A and B. Raises CommandFailed."""

    def tell(result: Result) -> None:
        if not json:
            click.echo(line(result))

    async def go() -> list[Result]:
        url = await admitted(text, guard, networks)
        if not json:
            click.echo(f"{'':<6} {'case':<22} {'should':<5} {'did':<12} {'took':>9}")
        return await probe(url, guard, forge, tell=tell)

    results = trio.run(go)
    for words in [shown(as_json(results))] if json else closing(results):
        click.echo(words)
    return Exit.WELL if grade(results) in ("A", "B") else Exit.FAILED
