"""A page read in one step, and its delta applied as a client does."""

from __future__ import annotations

from collections.abc import Sequence

from actors.content.pages.page import PageReading, blocks_in, open_page, reading_of
from storage.records.event import Delta


def read_page(body: bytes, content_type: str, url: str, selector: str | None, ignore: tuple[str, ...]) -> PageReading:
    """Read a page, narrowed to `selector` and without the matches of `ignore`. Raises ContentError."""
    opened = open_page(body, content_type, selector, ignore)
    return reading_of(opened, blocks_in(opened), narrowed=selector is not None)


def apply(before: Sequence[str], delta: Delta) -> list[str]:
    """Return the new paragraphs. Raises ValueError if the delta is truncated or does not fit the old ones."""
    if delta.truncated:
        raise ValueError("a truncated delta cannot be applied")
    deleted = {op.para for op in delta.ops if op.op == "delete"}
    kept = [text for i, text in enumerate(before) if i not in deleted]
    written = {op.para: op for op in delta.ops if op.op != "delete"}
    after: list[str] = []
    position = 0
    while position < len(kept) or len(after) in written:
        op = written.get(len(after))
        if op is None or op.op == "replace":
            if position >= len(kept):
                raise ValueError(f"nothing is left to replace at paragraph {len(after)}")
            after.append(kept[position] if op is None else str(op.after))
            position += 1
        else:
            after.append(str(op.text))
    return after
