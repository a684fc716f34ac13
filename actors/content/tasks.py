"""Tasks of a worker: each takes an encoded request and returns an encoded answer, or raises ContentError."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import asdict, replace

from actors.content import messages
from actors.content.bodies.frames import cap_content, read_frames
from actors.content.bodies.text import normalise
from actors.content.changes.churn import BARE, FEW, ChangeVerdict, judge, known_verdict, last_digests, valid_digests
from actors.content.changes.diff import of_change, with_prices
from actors.content.changes.difference import StateContexts, is_restless, remark_of
from actors.content.changes.listed import look_list, read_item
from actors.content.changes.memory import decode_memory, encode, known_keys, placed
from actors.content.changes.news import noise_keys
from actors.content.changes.swaps import CheckMoment, find_text
from actors.content.detection import detect
from actors.content.errors import ContentError, NoParts
from actors.content.feeds import read_feed, read_outline
from actors.content.pages import selectors
from actors.content.pages.page import (
    NOTHING,
    PageMetadata,
    PageReading,
    blocks_in,
    code_of,
    event_text,
    is_one_value,
    open_page,
    preview_page,
    reading_of,
    writing_of,
)
from actors.content.pages.plain import ROOT, format_of
from actors.content.values.kinds import kinds_of, standing_in
from actors.content.values.reading import Writing
from actors.content.wording.words import content_hash, simhash
from actors.messages.requests import FoundValue
from storage.records.event import StandingValues

MOST_VALUES = 20  # values that a preview lists
_encode = msgspec.msgpack.encode
Asked = TypeVar("Asked")


def task_of(type: type[Asked], answer: Callable[[Asked], object]) -> Callable[[bytes], bytes]:
    def run(request: bytes) -> bytes:
        return _encode(answer(msgspec.msgpack.decode(request, type=type)))

    return run


def _preview_page(asked: messages.PageRequest) -> messages.PagePreviewAnswer:
    try:
        return messages.PagePreviewAnswer(replace(preview_page(asked), values=_values_on(asked)))
    except NoParts as error:
        return messages.PagePreviewAnswer(None, error.reason)


def _values_on(asked: messages.PageRequest) -> tuple[FoundValue, ...]:
    try:
        look = look_page(asked)
    except ContentError:
        return ()
    found = _standing_values(messages.StandingRequest(look.memory, exact="json" in asked.content_type)).values
    shown = (
        FoundValue(each.value.type, each.value.text, each.value.digits, each.label, each.path, each.value.unit)
        for each in sorted(found, key=lambda each: each.block)
        if each.value.type is not UNSET
    )
    return tuple(islice(shown, MOST_VALUES))


def _faults(asked: messages.SelectorsRequest) -> list[messages.Fault]:
    wishes, faults = [(None, asked.selector)] if asked.selector is not None else [], list[messages.Fault]()
    for index, text in (*wishes, *enumerate(asked.ignore)):
        try:
            selectors.check(text)
        except ContentError as error:
            faults.append(messages.Fault(index, error.reason))
    return faults


def _standing_values(asked: messages.StandingRequest) -> StandingValues:
    memory = decode_memory(asked.memory)
    if memory is None:
        return StandingValues()
    state = placed(memory)
    writing = Writing(exact=True) if asked.exact else Writing(memory.face.language or code_of(state.texts))
    values, more = standing_in(state.texts, StateContexts(state), writing)
    shown = tuple(standing for standing in values if not is_restless(memory, state, standing.block))
    return StandingValues(shown, more, memory.began)


def look_page(asked: messages.PageRequest) -> messages.PageLook:
    """Read a page and judge it against its memory. The main text is extracted only if an event may carry it."""
    memory = decode_memory(asked.memory) if asked.memory else None
    last = valid_digests(memory, asked)
    opened = open_page(asked.body, asked.content_type, asked.selector, asked.ignore, asked.was, last=last[BARE])
    same = known_verdict(memory, opened, last) if opened.root is None else None
    if same is not None:
        return _look(PageMetadata("", "", "", None), same)
    if asked.memory and not asked.was and format_of(opened.root) == messages.FILE:
        raise ContentError("The page has become a file without text.")
    if asked.was and not messages.is_same(format_of(opened.root), asked.was):
        raise ContentError("The page has become a document of another kind.")
    if memory is not None and opened.empty and not memory.doubts and placed(memory).texts != (NOTHING,):
        # A half-built page lacks the part too.
        reason = "The selector matches nothing now: a second check decides."
        held = ChangeVerdict("held", replace(memory, doubts=1), None, None, 0.0, reason, soon=True, unsettled=True)
        return _look(opened.head, held)
    if (verdict := known_verdict(memory, opened, last)) is not None:
        return _look(opened.head, verdict)
    blocks = blocks_in(opened)
    known = known_keys(memory) if memory is not None else ({}, {})
    # Each line of a file is content, as in a part that the user chose: no figure of it is a counter.
    is_narrowed = asked.selector is not None or format_of(opened.root) == messages.FILE
    is_value = is_one_value(blocks)
    exact = is_value or (asked.selector is not None and len(blocks.texts) <= FEW)
    reading = reading_of(opened, blocks, narrowed=is_narrowed, known=known, exact=exact)
    if reading.trouble is not None and memory is None:
        raise ContentError(f"The page cannot be watched yet: {reading.trouble}.")
    bar = min(max(asked.bar, messages.LOWEST_BAR), messages.HIGHEST_BAR)
    when, chosen = CheckMoment(asked.number, asked.at), is_narrowed or is_value
    verdict = judge(
        memory, reading, asked.shared, noise=asked.noise, bar=bar, when=when, address=asked.url, chosen=chosen
    )
    look = _look(reading, replace(verdict, digests=last_digests(memory, verdict, opened, blocks, asked)))
    if format_of(opened.root) == messages.FILE:
        look = replace(look, remark="")  # every line of it is reported, however often it changes
    if opened.empty:
        look = replace(look, remark="Its selector matches nothing now.")
    if verdict.kind not in {"baseline", "changed", "moved"}:
        return look
    text = event_text(blocks, reading.blocks, look.diff, whole=opened.root.tag == ROOT)
    look = replace(
        look,
        content=text.content,
        content_hash=content_hash(text.whole),
        simhash=simhash(text.whole or reading.title),
        truncated=text.truncated,
    )
    if look.diff is None:
        return look
    diff, changes = with_prices(look.diff, kinds_of(look.diff, writing_of(opened.root, reading)))
    return replace(look, diff=diff, summary=of_change(diff, look.weighed, reading.title), changes=changes)


def _look(page: PageReading | PageMetadata, verdict: ChangeVerdict) -> messages.PageLook:
    trouble, partial = (page.trouble, page.partial) if isinstance(page, PageReading) else (None, False)
    said = asdict(verdict) | {"memory": encode(verdict.memory), "trouble": trouble or verdict.trouble}
    if verdict.kind == "unchanged":
        said["withheld"] = ()
    return messages.PageLook(
        title=page.title,
        author=page.author,
        published_at=page.published_at,
        partial=partial,
        remark=remark_of(verdict.memory),
        **said,
    )


TASKS: Mapping[str, Callable[[bytes], bytes]] = {
    "detect": task_of(messages.BodyRequest, lambda asked: detect(asked.body, asked.content_type, asked.url)),
    "look_feed": task_of(messages.BodyRequest, lambda asked: read_feed(asked.body, asked.content_type, asked.url)),
    "look_page": task_of(messages.PageRequest, look_page),
    "look_list": task_of(messages.ListRequest, look_list),
    "read_item": task_of(messages.PageRequest, read_item),
    "preview_page": task_of(messages.PageRequest, _preview_page),
    "selectors": task_of(messages.SelectorsRequest, _faults),
    "frame": task_of(
        messages.FrameRequest, lambda asked: list(map(cap_content, read_frames(asked.text, asked.url, asked.name)))
    ),
    "block_keys": task_of(messages.KeysRequest, lambda asked: noise_keys(map(normalise, asked.texts))),
    "find_text": task_of(messages.FindRequest, find_text),
    "outline": lambda request: _encode(read_outline(request)),
    "standing_values": task_of(messages.StandingRequest, _standing_values),
}
