"""The texts of origins: the title, link and words of each, and which are published by now."""

from __future__ import annotations

import re
from collections.abc import Sequence

import trio

from storage.records.identity import Millis, rfc3339
from tests.simulation.program import OriginPlan, Text

EPOCH = 1_780_000_000.0
"""The true wall clock when the world begins."""
_TITLE = re.compile(r"(\S+) number (\d+)")


def published(texts: Sequence[Text]) -> Sequence[Text]:
    """Return the published texts, oldest first."""
    now = trio.current_time()
    return [text for text in texts if text.at <= now]


def title(plan: OriginPlan, number: int) -> str:
    """Return the unique title of a text."""
    return f"{plan.name} number {number}"


def numbers_in(plan: OriginPlan, content: str) -> list[int]:
    """Return the numbers of a source's texts that some content names."""
    return [int(number) for name, number in _TITLE.findall(content) if name.lstrip("(") == plan.name]


def link(plan: OriginPlan, number: int) -> str:
    return f"https://{plan.host}{plan.path.rstrip('/')}/{number}"


def sentence(words: Sequence[str]) -> str:
    return " ".join(words).capitalize() + "."


def saying(plan: OriginPlan, number: int, words: Sequence[str]) -> str:
    """Return a text with its title, which identifies it everywhere."""
    return f"{sentence(words)} ({title(plan, number)})"


def stamp(text: Text) -> str:
    """Return when a text was published, as RFC 3339."""
    return rfc3339(Millis(int(EPOCH + text.at) * 1000))
