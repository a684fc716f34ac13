"""A receipt of coverage over a year of hourly rows: how large it is, and how long it takes; and what a tally costs.

The limit beside the time is the signature alone.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import trio

from actors.signatures.coverage import MOST_BYTES, Logged, receipt_of
from actors.signatures.event import Signer, new_signing_key
from storage.interface import Storage
from storage.records import tally
from storage.records.coverage import Kept, cover, days_of
from storage.records.identity import Millis, SourceId
from storage.records.shift import Shift, record_of
from storage.records.tally import Day
from storage.records.trail import Verdict
from storage.sqlite import open_sqlite
from tests.storage.contract.builders import a_source, a_source_id, a_state

DAYS, SOURCES, EVERY = 365, 50, 900_000
DAY_MS = 86_400_000
START = Millis(20_000 * DAY_MS)
END = Millis(START + DAYS * DAY_MS)
ROUNDS = 20
WITHIN = 20.0
TALLY_US = 20.0


def rows() -> list[dict[str, Any]]:
    """Measure on a data folder of SQLite with a year of some sources."""
    days, counted, us = _a_year()
    with tempfile.TemporaryDirectory() as name:
        ms, size = trio.run(_asked, Path(name), days, counted)
    key = Signer(new_signing_key(bytes(32), START))
    bare = _best(lambda: key.sign_document({"a": "b" * 1_200}, START))
    what = f"a receipt over {DAYS} days by the hour: read, weighed, signed; CPU"
    each = sum(len(day.body) for day in days) / len(days)
    return [
        _row(
            what,
            f"<= {WITHIN:g} ms",
            ms,
            WITHIN,
            "ms",
            bare,
        ),
        _row("the same: its size", f"<= {MOST_BYTES:,} B", size, MOST_BYTES, "B"),
        _row("a look in the tally of a source, CPU", f"<= {TALLY_US:g} us", us, TALLY_US, "us"),
        _row("a day of quiet looks in the tally of a source", "<= 24 B an hour", each, 24 * 24, "B"),
    ]


def _row(figure: str, goal: str, ours: float, most: float, unit: str, bare: float | None = None) -> dict[str, Any]:
    return {
        "figure": f"coverage: {figure}",
        "goal": goal,
        "limit": "" if bare is None else f"{bare:.2f} ms to sign",
        "ours": f"{ours:,.1f} {unit}",
        "ratio": None if bare is None else ours / bare,
        "met": ours <= most,
    }


def _a_year() -> tuple[list[Day], bytes, float]:
    """Return the days and the tally of a year of looks, and the microseconds that each took."""
    days: list[Day] = []
    counted, spent, looks = b"", 0.0, range(START, END, EVERY)
    for number, at in enumerate(looks):
        verdict = Verdict.UNCHANGED if number % 40 else Verdict.REMOTE_TRANSIENT
        began = time.process_time()
        counted = tally.noted(counted, Millis(at + number * 7_919 % 300_000), verdict)
        spent += time.process_time() - began
        if tally.has_over(counted, at // DAY_MS):
            over = tally.over(counted, at // DAY_MS)
            days += over
            counted = tally.without(counted, over)
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
    found = cover(START, END, Kept(START, counted, days), record_of(restarts, END, [39]))
    made = receipt_of(source, "https://shop.example/" + "a" * 200, found, Logged("x" * 36, "y" * 36, START))
    return Signer(new_signing_key(bytes(32), START)).sign_document(msgspec.to_builtins(made), END)


def _shift(number: int) -> Shift:
    began = Millis(START + number * 9 * DAY_MS)
    return Shift(number, "", began, Millis(began + 8 * DAY_MS), None, "crash" if number > 1 else "nothing")


def _best(what: Callable[[], object]) -> float:
    """Return the milliseconds of the best of some tries."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        what()
        took.append(time.perf_counter() - began)
    return 1000 * min(took)
