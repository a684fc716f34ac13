"""Bugs in the meaning of a page's difference: held, returning, alternating and replaced content."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from actors.content import tasks
from actors.content.changes import churn, memory, news
from actors.content.changes.memory import PageMemory, decode_memory, packed_recent, unpack_keys
from actors.content.changes.news import WeighedBlock
from actors.content.changes.swaps import PageSwap, ReturnCheck, SwapReaction, turn_of
from actors.sources import page as html
from actors.sources import polling
from storage.records.event import Draft


def pending_is_churn() -> AbstractContextManager[Any]:
    """A held text counts as churn from its first check on, and so is never compared with the reported state."""
    right = churn._pending_memory

    def wrong(before: PageMemory, look: Any, shaped: Any) -> PageMemory:
        waits = [*look.pending.came, *look.pending.missing]
        grown = right(before, look, shaped)
        settled = memory.pack(look.now, [*unpack_keys(grown.recent), *waits])
        return replace(grown, texts=settled.texts, keys=settled.keys, traits=settled.traits, recent=settled.recent)

    return patch.object(churn, "_pending_memory", wrong)


def reported_is_churn() -> AbstractContextManager[Any]:
    """Reported texts count as churn, so no return is reported."""
    right = churn._reported_memory

    def wrong(before: PageMemory, look: Any, after: Any, difference: Any, state: bytes) -> PageMemory:
        settled = right(before, look, after, difference, state)
        keys = [block.key for block in difference.blocks]
        return replace(settled, recent=packed_recent([*unpack_keys(settled.recent), *keys]))

    return patch.object(churn, "_reported_memory", wrong)


def swaps_reported_at_once() -> AbstractContextManager[Any]:
    """Another page in place of a page is reported at once."""
    return patch.object(PageSwap, "stays", lambda self, held, at: SwapReaction.TELL)


def swaps_never_reported() -> AbstractContextManager[Any]:
    """Another page in place of a page is held for ever."""
    return patch.object(PageSwap, "stays", lambda self, held, at: SwapReaction.WAITS)


def turns_reported_for_ever() -> AbstractContextManager[Any]:
    """Every turn of an alternating text is reported."""

    def wrong(*look: Any, **more: Any) -> ReturnCheck:
        return replace(turn_of(*look, **more), rotates=False)

    return patch.object(churn, "turn_of", wrong)


def returns_are_new() -> AbstractContextManager[Any]:
    """A return is reported like any other change."""

    def wrong(*look: Any, **more: Any) -> ReturnCheck:
        return replace(turn_of(*look, **more), reverted=False)

    return patch.object(churn, "turn_of", wrong)


def pending_starts_over() -> AbstractContextManager[Any]:
    """A memory with held texts can't be read: the page gets a new baseline."""

    def wrong(stored: bytes) -> PageMemory | None:
        found = decode_memory(stored)
        return None if found is None or found.pending else found

    return patch.object(tasks, "decode_memory", wrong)


def doubts_not_read_again() -> AbstractContextManager[Any]:
    """A page that stays doubtful is not read: it has not changed."""
    right = polling._check_result

    def wrong(before: Any, fetched: Any, reading: Any, at: Any) -> Any:
        looked = right(before, fetched, reading, at)
        return looked if reading is None else replace(looked, validators=polling.validators_of(fetched))

    return patch.object(polling, "_check_result", wrong)


def removals_weigh_nothing() -> AbstractContextManager[Any]:
    """A removal from a list is no change."""
    right = news._Scales.went

    def wrong(self: Any, left: Any, figures: Any) -> Mapping[int, WeighedBlock]:
        return {i: replace(block, score=0.0) for i, block in right(self, left, figures).items()}

    return patch.object(news._Scales, "went", wrong)


def time_zones_reported() -> AbstractContextManager[Any]:
    """Dates that all move by a day are changes, each of them."""
    return patch.object(news, "_unshifted", lambda blocks, replaced, before: blocks)


def counters_are_limits() -> AbstractContextManager[Any]:
    """A figure in a label counts at once, whether it stays or not."""
    return patch.object(news._Scales, "may_count", lambda self, one, before: False)


def moved_without_its_difference() -> AbstractContextManager[Any]:
    """The report of a moved page lacks its difference."""
    right = html._draft

    def wrong(*look: Any) -> Draft:
        draft = right(*look)
        return draft if draft.alert_type is None else replace(draft, diff=None, delta=None)

    return patch.object(html, "_draft", wrong)
