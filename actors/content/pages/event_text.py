"""The text of a page as an event carries it: the main text and whatever else its difference names, in page order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from actors.content.bodies.text import cap, normalise
from actors.content.pages.blocks import Blocks
from actors.content.pages.main_text import main_blocks
from actors.content.pages.traits import ASIDE
from storage.records.event import CONTENT_CAP, Diff


class EventText(NamedTuple):
    """whole: the uncut text, of which the hashes are. content: what an event carries of it, `truncated` if not all."""

    whole: str
    content: str
    truncated: bool


def event_text(blocks: Blocks, texts: Sequence[str], diff: Diff | None, *, whole: bool = False) -> EventText:
    """Return the text of a page with this difference. texts: the blocks' in their normal form. whole: all is text.

    Where it is longer than what an event carries, the texts that the difference names are kept before others.
    """
    chosen = set(range(len(blocks.texts))) if whole else set(main_blocks(blocks))
    named = _named(blocks, texts, diff, chosen) if diff is not None else set[int]()
    order = sorted(chosen | named)
    lines = [texts[i] for i in order]
    # A page's blocks are lines; a document's may be more than one, and need to be seen as they were.
    text = normalise("\n".join(blocks.texts[i] for i in order)) if whole or not all(lines) else "\n".join(lines)
    content, truncated = cap(text)
    if truncated and named:
        content = _cut(lines, [i in named for i in order])
    return EventText(text, content, truncated)


def _named(blocks: Blocks, texts: Sequence[str], diff: Diff, chosen: set[int]) -> set[int]:
    """Return the blocks with the texts that the difference shows of the new page; in furniture only those that are
    nowhere else."""
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
    """Return as many texts as an event carries, in their order, those that are named first to be kept."""
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
