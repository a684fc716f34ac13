"""The text of a page in an event: the main text and any other text of the difference, in page order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from actors.content.bodies.text import cap, normalise
from actors.content.pages.blocks import Blocks
from actors.content.pages.main_text import main_blocks
from actors.content.pages.traits import ASIDE
from storage.records.event import CONTENT_CAP, Diff


class EventText(NamedTuple):
    """whole: the full text, which is hashed. content: the part in the event. truncated: whether they differ."""

    whole: str
    content: str
    truncated: bool


def event_text(blocks: Blocks, texts: Sequence[str], diff: Diff | None, *, whole: bool = False) -> EventText:
    """Return the text of a page with this difference. texts: the blocks', normalised. whole: all is text.

    If it exceeds the size of an event, the texts of the difference take precedence.
    """
    chosen = set(range(len(blocks.texts))) if whole else set(main_blocks(blocks))
    named = _named(blocks, texts, diff, chosen) if diff is not None else set[int]()
    order = sorted(chosen | named)
    lines = [texts[i] for i in order]
    # A page's blocks are lines; a document's may have several lines, and keep them.
    text = normalise("\n".join(blocks.texts[i] for i in order)) if whole or not all(lines) else "\n".join(lines)
    content, truncated = cap(text)
    if truncated and named:
        content = _cut(lines, [i in named for i in order])
    return EventText(text, content, truncated)


def _named(blocks: Blocks, texts: Sequence[str], diff: Diff, chosen: set[int]) -> set[int]:
    """Return the blocks with the new texts of the difference; furniture only if the text is nowhere else."""
    wanted = dict.fromkeys((*diff.added, *(change.after for change in diff.changed)))
    found: dict[str, list[int]] = {text: [] for text in wanted}
    for i, text in enumerate(texts):
        if text in found:
            found[text].append(i)
    named: set[int] = set()
    for text, places in found.items():
        if not places:
            # The difference shows the beginning of a long text.
            places = [i for i, whole in enumerate(texts) if whole.startswith(text)][:1]  # noqa: PLW2901
        named.update([i for i in places if i in chosen or not blocks.traits[i] & ASIDE] or places[:1])
    return named


def _cut(texts: Sequence[str], named: Sequence[bool]) -> str:
    """Fill an event with texts in page order; those named in the difference take precedence."""
    room = CONTENT_CAP
    kept: dict[int, str] = {}
    for wish in (True, False):
        for i, text in enumerate(texts):
            if named[i] is not wish:
                continue
            raw = f"{text}\n".encode()
            kept[i] = raw[:room].decode("utf-8", "ignore").rstrip("\n")
            room -= len(raw)
            if room <= 0:
                return "\n".join(kept[place] for place in sorted(kept)).strip("\n")
    return "\n".join(kept[place] for place in sorted(kept))
