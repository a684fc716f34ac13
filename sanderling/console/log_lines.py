"""The service's log lines for the terminal. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sanderling.console.text import Line, fit
from sanderling.console.words import BAD, FAINT, POOR, clock, named

_LEVELS = {"error": BAD, "warning": POOR, "debug": FAINT, "critical": BAD}
_SHORT = {"warning": "warn", "critical": "crit"}
_LEVEL, _EVENT = 5, 22


def log_line(line: Mapping[str, Any], width: int) -> Line:
    """Return a log line: time, level, event, actor, fields."""
    level = str(line["level"])
    fields = "  ".join(f"{name}={value}" for name, value in line["fields"].items())
    actor = named(str(line["actor"])) + "  " if line["actor"] else ""
    return [
        (f" {clock(str(line['ts']))} ", FAINT),
        (fit(_SHORT.get(level, level)[:_LEVEL], _LEVEL) + " ", _LEVELS.get(level, "")),
        (fit(str(line["event"]), _EVENT) + " ", ""),
        (fit(actor + fields, width - 12 - _LEVEL - _EVENT), FAINT),
    ]
