"""Log lines on stderr: JSON for machines, words on a terminal.

Logged text may come from a hostile page (a title, an error), so it must not forge or colour a line: control characters
are escaped, a line stays one line, and it is at most 4 KiB.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from enum import Enum
from math import isfinite
from typing import Any, TextIO

import structlog
import trio
from structlog.typing import Processor

from storage.records.identity import Millis, rfc3339
from storage.records.secrecy import plain, without_secrets

Fields = MutableMapping[str, Any]

LINE_CAP = 4096
VALUE_CAP = 1024
LIST_CAP = 16
FIRST = ("ts", "level", "event")
ROOT = "sanderling/"  # the beginning of actor paths, left out of log lines

_LETTERS = {"debug": "2", "warning": "33", "error": "31"}


def make_log(
    stream: TextIO,
    wall: Callable[[], float],
    *,
    level: str,
    words: bool,
    colour: bool,
    keep: Callable[[Mapping[str, Any]], None] | None = None,
) -> Callable[..., None]:
    """Return the World's `log`: an event name, then fields; the field `level` defaults to info. keep: receives the
    sanitized fields of each line. A line names the actor of its task unless it names another. Standard library loggers
    also write here, from warning up.
    """

    def kept(_logger: Any, _name: str, fields: Fields) -> Fields:
        assert keep is not None
        keep(dict(fields))
        return fields

    logger = structlog.wrap_logger(
        structlog.PrintLogger(stream),
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            lambda _logger, _name, fields: {**fields, "ts": rfc3339(Millis(int(wall() * 1000)))},
            _named,
            lambda _logger, _name, fields: {plain(str(name)): _safe_value(value) for name, value in fields.items()},
            *((kept,) if keep is not None else ()),
            _words(colour) if words else _json_line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )

    def log(event: str, **fields: Any) -> None:
        # A log that cannot be written (full disk, closed pipe) must not end the work it reports on.
        with suppress(OSError, ValueError):
            getattr(logger, fields.pop("level", "info"))(event, **fields)

    logging.getLogger().handlers = [_Bridge(log)]
    return log


class _Bridge(logging.Handler):
    """Forwards library warnings and errors to the log, without tracebacks."""

    def __init__(self, log: Callable[..., None]) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        level = "error" if record.levelno >= logging.ERROR else "warning"
        cause = record.exc_info[1] if record.exc_info else None
        extra = {"error": f"{type(cause).__name__}: {cause}"} if cause is not None else {}
        self._log(record.getMessage(), level=level, logger=record.name, **extra)


def _named(_logger: Any, _name: str, fields: Fields) -> Fields:
    """Add the actor: tasks are named by their paths, and child tasks belong to the nearest actor above them."""
    if actor := str(fields.get("actor") or _actor()):
        fields["actor"] = actor.removeprefix(ROOT)
    return fields


def _actor() -> str:
    try:
        task: trio.lowlevel.Task | None = trio.lowlevel.current_task()
    except RuntimeError:
        return ""  # another thread, or no event loop yet
    while task is not None and not task.name.startswith(ROOT):
        task = task.parent_nursery.parent_task if task.parent_nursery is not None else None
    return "" if task is None else task.name


def _safe_value(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, list | tuple):
        return [_safe_value(part) for part in value[:LIST_CAP]]
    text = value if isinstance(value, str) else repr(value)
    text = without_secrets(plain(text[: 4 * VALUE_CAP]))  # cut first, far beyond the cap: it may be a stranger's
    return text if len(text) <= VALUE_CAP else text[:VALUE_CAP] + "..."


def _json_line(_logger: Any, _name: str, fields: Fields) -> str:
    ordered = {name: fields[name] for name in FIRST} | dict(fields)
    line = _encode(ordered)
    while len(line.encode()) > LINE_CAP:  # newest fields go first; event name and level always stay
        ordered.popitem()
        line = _encode(ordered | {"cut": True})
    return line


def _encode(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _words(colour: bool) -> Processor:
    def render(_logger: Any, _name: str, fields: Fields) -> str:
        clock = str(fields["ts"])[11:19]
        rest = " ".join(f"{name}={value}" for name, value in fields.items() if name not in FIRST)
        level = fields["level"]
        mark = "" if level == "info" else f"{level}: "
        line = f"{clock} {mark}{fields['event']}" + (f"  {rest}" if rest else "")
        line = line if len(line.encode()) <= LINE_CAP else line.encode()[: LINE_CAP - 3].decode(errors="ignore") + "..."
        return f"\x1b[{_LETTERS[level]}m{line}\x1b[0m" if colour and level in _LETTERS else line

    return render
