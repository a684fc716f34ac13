"""What origins say: the title, link and words of each text, and which of them are out by now."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from sanderling.simulation.program import OriginPlan, Text
from storage.records.identity import Millis
from storage.records.times import rfc3339

EPOCH = 1_780_000_000.0
"""What the true wall clock shows when the world begins."""


def published(texts: Sequence[Text]) -> Sequence[Text]:
    """Return what is out by now, oldest first."""
    now = trio.current_time()
    return [text for text in texts if text.at <= now]


def title(plan: OriginPlan, number: int) -> str:
    """Return the unique title of a text."""
    return f"{plan.host} number {number}"


def link(plan: OriginPlan, number: int) -> str:
    """Return the address of a text."""
    return f"https://{plan.host}/{number}"


def sentence(text: Text) -> str:
    """Return a text's words as a sentence."""
    return " ".join(text.words).capitalize() + "."


def stamp(text: Text) -> str:
    """Return when a text was published, as RFC 3339."""
    return rfc3339(Millis(int(EPOCH + text.at) * 1000))
