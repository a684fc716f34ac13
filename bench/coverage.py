"""Size and time of a coverage receipt over a year of hourly rows, and the cost of a tally."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import trio

from actors.signatures import MOST_BYTES, LoggedEvents, Signer, new_signing_key, receipt_of
from bench.topic import Figure, Row, Topic, size
from storage.records import coverage
from storage.records.checks import Verdict
from storage.records.coverage import Day, Shift, StoredChecks, cover, days_of, record_of
from storage.records.identity import Millis, SourceId
from storage.sql.storage import Storage
from storage.sqlite import open_sqlite
from tests.storage.contract.builders import a_source, a_source_id, a_state

DAYS, SOURCES, EVERY = size(365, 20), size(50, 2), 900_000
DAY_MS = 86_400_000
START = Millis(20_000 * DAY_MS)
END = Millis(START + DAYS * DAY_MS)
ROUNDS = size(20, 2)
TOPIC = Topic(
    "Coverage receipts",
    "A year of hours of 50 sources on SQLite, in processor time; the limit signs a document and nothing else.",
    ("actors/signatures.py", "storage/records", "storage/sqlite"),
    {
        "receipt": Figure("a receipt over a year by the hour: read, weighed, signed; CPU", "ms", "<= 20 ms"),
        "size": Figure("its size", "B", f"<= {MOST_BYTES:,} B"),
        "tally": Figure("a check in the tally of a source, CPU", "us", "<= 20 us"),
        "day": Figure("a day of quiet checks in the tally", "B", "<= 576 B"),
    },
)


def rows() -> Iterator[Row]:
    days, counted, us = _a_year()
    with tempfile.TemporaryDirectory() as name:
        ms, length = trio.run(_asked, Path(name), days, counted)
    key = Signer(new_signing_key(bytes(32), START))
    yield Row("receipt", ms, _best(lambda: key.sign_document({"type": "coverage", "a": "b" * 1_200}, START)))
    yield Row("size", length)
    yield Row("tally", us)
    yield Row("day", sum(len(day.body) for day in days) / len(days))


def _a_year() -> tuple[list[Day], bytes, float]:
    """Return the days and the tally of a year of checks, and the microseconds per check."""
    days: list[Day] = []
    counted, spent, looks = b"", 0.0, range(START, END, EVERY)
    for number, at in enumerate(looks):
        verdict = Verdict.UNCHANGED if number % 40 else Verdict.REMOTE_TRANSIENT
        began = time.process_time()
        counted = coverage.noted(counted, Millis(at + number * 7_919 % 300_000), verdict)
        spent += time.process_time() - began
        if coverage.has_over(counted, at // DAY_MS):
            over = coverage.over(counted, at // DAY_MS)
            days += over
            counted = coverage.without(counted, over)
    return days, counted, spent / len(looks) * 1e6


async def _asked(folder: Path, days: list[Day], counted: bytes) -> tuple[float, float]:
    storage = await open_sqlite(folder, clock=lambda: END / 1000, owner="bench", warn=lambda _: None)
    try:
        ids = [a_source_id(number) for number in range(1, SOURCES + 1)]
        for number in range(1, SOURCES + 1):
            await storage.sources.add(a_source(number), a_state(number, b""), storage.lease)
        for day in days:
            await storage.coverage.keep([(source, day) for source in ids])
        took = []
        for number in range(ROUNDS):
            began = time.process_time()
            receipt = await _receipt(storage, ids[number % SOURCES], counted)
            took.append(time.process_time() - began)
        return 1000 * sorted(took)[ROUNDS // 2], float(len(receipt))
    finally:
        await storage.aclose()


async def _receipt(storage: Storage, source: SourceId, counted: bytes) -> bytes:
    first, last = days_of(START, END)
    days = await storage.coverage.days(source, first, last)
    restarts = [_shift(number) for number in range(1, 40)]
    found = cover(START, END, StoredChecks(START, counted, days), record_of(restarts, END, [39]))
    made = receipt_of(source, "https://shop.example/" + "a" * 200, found, LoggedEvents("x" * 36, "y" * 36, START))
    return Signer(new_signing_key(bytes(32), START)).sign_document(msgspec.to_builtins(made), END)


def _shift(number: int) -> Shift:
    began = Millis(START + number * 9 * DAY_MS)
    return Shift(number, "", began, Millis(began + 8 * DAY_MS), None, "crash" if number > 1 else "nothing")


def _best(what: Callable[[], object]) -> float:
    """Return the best of several runs in milliseconds."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        what()
        took.append(time.perf_counter() - began)
    return 1000 * min(took)
