from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest

from sanderling.commands.history import moment_of, receipt_lines
from sanderling.exits import CommandFailed
from storage.records.identity import Millis

NOW = Millis(1_780_000_000_000)
RECEIPT: dict[str, Any] = {
    "source_id": "x",
    "url": "https://shop.example/\x1b[31m",
    "from": "2026-05-21T20:00:00.000Z",
    "to": "2026-05-28T20:26:40.000Z",
    "says": "672 checks succeeded.",
    "outcomes": {"unchanged": 670, "changed": 2, "local": 0},
    "versions": 3,
    "longest_gap": {"from": "2026-05-22T10:00:00.000Z", "to": "2026-05-22T10:16:00.000Z", "seconds": 960},
    "unknown": [{"from": "2026-05-23T10:00:00.000Z", "to": "2026-05-23T10:31:00.000Z", "why": "crash"}],
}


def test_a_receipt_prints_in_lines_without_text_of_pages() -> None:
    found = list(receipt_lines(RECEIPT, UTC))
    assert "\x1b" not in "".join(found)
    assert found[1:] == [
        "  from 21 May 2026 20:00 to 28 May 2026 20:26",
        "  672 checks succeeded.",
        "  checks: 670 unchanged, 2 changed; changed bodies: 3",
        "  longest gap: 16 min, from 22 May 2026 10:00 to 22 May 2026 10:16",
        "  unknown from 23 May 2026 10:00 to 23 May 2026 10:31: the service ended without a word",
    ]


def test_unknown_coverage_says_nothing_else() -> None:
    nothing = RECEIPT | {"outcomes": {"unchanged": 0}, "longest_gap": None, "unknown": []}
    assert len(list(receipt_lines(nothing, UTC))) == 3


def test_a_time_is_so_long_ago_or_written_out() -> None:
    assert moment_of("--since", "1h", NOW) == "2026-05-28T19:26:40.000Z"
    assert moment_of("--since", "2026-05-28T22:00:00+02:00", NOW) == "2026-05-28T20:00:00.000Z"
    for wrong in ("", "d", "7", "1.5d", "yesterday"):
        with pytest.raises(CommandFailed, match="--since"):
            moment_of("--since", wrong, NOW)
