"""Bugs of the heartbeats: silence after a restart, and too many."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from actors import coverage as beat


def restarts_wait_again() -> AbstractContextManager[Any]:
    """A start ignores the log and waits for two whole intervals."""
    return patch.object(beat, "until_due", lambda last, every, now: 2.1 * every)


def starts_beat_at_once() -> AbstractContextManager[Any]:
    """A start emits a heartbeat at once, due or not."""
    return patch.object(beat, "until_due", lambda last, every, now: 0)
