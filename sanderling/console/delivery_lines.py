"""Destinations and their attempts as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sanderling.console.text import Line, fit, right
from sanderling.console.words import FAINT, STYLES, ago, apart, bare, day_and_clock, short, until
from storage.records.states import ATTEMPTS, DESTINATIONS

_FAILING, _WAITING, _OLDEST, _NEXT = 7, 7, 6, 4
_STATE = 5
_RESULT = 7
_ID = 8


def _widths(width: int) -> tuple[int, int]:
    left = width - 7 - _STATE - _WAITING - _OLDEST - _FAILING - _NEXT
    who = max(10, left * 11 // 20)
    return who, max(0, left - who)


def heading(width: int) -> Line:
    who, says = _widths(width)
    figures = f"{right('waiting', _WAITING)} {right('oldest', _OLDEST)} {right('failing', _FAILING)}"
    words = (
        f" {fit('destination', who)} {fit('state', _STATE)} {figures} {right('next', _NEXT)} {fit('last answer', says)}"
    )
    return [(fit(words, width), "bold")]


def destination_line(row: Mapping[str, Any], width: int, now: str) -> Line:
    """Return a destination as a line of exactly so many cells."""
    who, says = _widths(width)
    state = DESTINATIONS[row["state"]]
    oldest = "-" if row["oldest"] is None else short(apart(row["oldest"], now))
    failing = "-" if row["failing_since"] is None else short(apart(row["failing_since"], now))
    figures = f"{right(str(row['waiting']), _WAITING)} {right(oldest, _OLDEST)} {right(failing, _FAILING)}"
    return [
        (f" {fit(_named(row), who)} ", ""),
        (fit(state.short, _STATE), STYLES[state.mood]),
        (f" {figures} {right(until(row['next'], now), _NEXT)} ", ""),
        (fit(_answer(row["last"], now), says), ""),
    ]


def _named(row: Mapping[str, Any]) -> str:
    return f"…{row['id'][-3:]} {bare(row['url'])}"


def _answer(last: Mapping[str, Any] | None, now: str) -> str:
    if last is None:
        return "not tried yet"
    return f"{ago(last['at'], now)} {answered(last)}"


def answered(line: Mapping[str, Any]) -> str:
    """Return the result of an attempt: its status, or its error."""
    if line["status"] is None:
        return str(line["error"] or "no answer")
    says = str(line["error"] or "").removeprefix(f"HTTP {line['status']}").strip()
    return f"{line['status']} in {line['latency_ms']} ms {says}".rstrip()


def attempt_heading(width: int) -> Line:
    words = f" {fit('at', 19)} {fit('delivery', _ID)} {right('try', 3)} {fit('result', _RESULT)} {right('next', 4)} "
    return [(fit(words + "answer", width), "bold")]


def attempt_line(line: Mapping[str, Any], width: int, now: str) -> Line:
    """Return an attempt as a line of exactly so many cells."""
    result = ATTEMPTS[line["result"]]
    at = fit(day_and_clock(line["at"]), 19)
    return [
        (f" {at} {fit('…' + line['webhook_id'][-7:], _ID)} {right(str(line['attempt']), 3)} ", ""),
        (fit(result.short, _RESULT), STYLES[result.mood]),
        (f" {right(until(line['next_attempt_at'], now), 4)} ", ""),
        (fit(answered({**line, "status": line["status_code"]}), width - 29 - _ID - _RESULT - 3), ""),
    ]


def attempt_detail(line: Mapping[str, Any] | None, url: str, width: int) -> Iterator[Line]:
    """Yield the request and response of one attempt."""
    if line is None:
        yield [(fit(" No attempt has been made yet; t sends a signed sample.", width), FAINT)]
        return
    request = f" webhook-id {line['webhook_id']}  attempt {line['attempt']}  POST {url}"
    yield [(fit(request, width), "")]
    status = f"HTTP {line['status_code']}" if line["status_code"] is not None else f"no answer: {line['error']}"
    yield [(fit(f" {status}, after {line['latency_ms']} ms", width), "")]
    yield [(fit(f" {line['response_excerpt'] or '(an empty body)'}", width), FAINT)]
