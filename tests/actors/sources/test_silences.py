"""Each text of a generated history that a check shows and does not report has a reason that an explanation finds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from actors.content.changes.memory import decode_memory, settled_of
from actors.content.changes.swaps import find_text
from actors.content.messages import FindRequest
from actors.content.wording.words import folded
from actors.egress.failures import CheckFailed
from actors.egress.http import FetchedResponse
from actors.messages.views import SourceView
from actors.sources.checks.fetch import BodyCheck
from actors.sources.explanation import best_first, note_reasons
from actors.sources.feed.reader import FeedReader, feed_reason, fingerprint_of
from actors.sources.feed.seen import compare
from actors.sources.page import EventHistory, PageReader, page_reasons
from storage.records.checks import add_note, read_notes
from storage.records.identity import Millis
from storage.records.source import Source, SourceRuntime
from tests.actors.content import page_histories
from tests.actors.content.changes import json_histories
from tests.actors.sources.feed import generated_feeds
from tests.support.build import NOW, a_source
from tests.support.inline_jail import InlineJail
from tests.support.pages import read_page

HOUR = 3_600_000
REASONS = {"told", "withheld", "known", "furniture", "outside", "there"}
HTML, JSON = "text/html", "application/json"


def fetched(source: Source, body: bytes, content_type: str = "") -> FetchedResponse:
    return FetchedResponse(
        url=source.url, status=200, headers={}, body=body, content_type=content_type, etag=None, last_modified=None,
        max_age=None, elapsed_ms=1, wire_bytes=len(body), hops=(),
    )  # fmt: skip


async def pages(source: Source, bodies: Sequence[bytes], content_type: str) -> list[str]:
    """Return the texts of a page's checks without a report that have no reason."""
    reader, jail, base, notes, found = PageReader(2.0), InlineJail(), b"", b"", list[str]()
    for number, body in enumerate(bodies, 1):
        at, was = Millis(NOW + number * HOUR), base
        try:
            answer = fetched(source, body, content_type)
            reading = await reader.read(jail, BodyCheck(source, base, answer, at, Millis(at - HOUR), number))
        except CheckFailed:
            continue  # The state of the source says why.
        base = base if reading.base is None else reading.base
        notes = notes if reading.note is None else add_note(notes, reading.note)
        if was and not reading.drafts:
            found += (f"{number}: {text}" for text in _differing(source, was, body, content_type)
                      if not _has_reason(source, base, notes, text, body, content_type))  # fmt: skip
    return found


def _differing(source: Source, base: bytes, body: bytes, content_type: str) -> Iterator[str]:
    """Yield the texts that only the reported page has, or only this body."""
    memory = decode_memory(base)
    assert memory is not None
    before = settled_of(memory).texts
    now = read_page(body, content_type, source.url, source.selector, ()).blocks
    yield from (text for text in now if text not in before)
    yield from (text for text in before if text not in now)


def _has_reason(source: Source, base: bytes, notes: bytes, text: str, body: bytes, content_type: str) -> bool:
    view = SourceView(source, SourceRuntime())
    spots = find_text(FindRequest(text, base, body, content_type, source.selector))
    reasons = [
        *note_reasons(read_notes(notes), folded(text)),
        *page_reasons(view, spots, EventHistory(Millis(NOW), is_whole=True), is_checked=True),
    ]
    return best_first(reasons)[0].kind in REASONS


async def feeds(bodies: Sequence[bytes]) -> list[str]:
    """Return the entries of a feed's checks, unreported and without a reason."""
    source = a_source()
    reader, jail, base, notes, told, found = FeedReader(2.0), InlineJail(), b"", b"", set[str](), list[str]()
    for number, body in enumerate(bodies, 1):
        at, answer = Millis(NOW + number * HOUR), fetched(source, body)
        try:
            feed = await reader.document(jail, answer)
            reading = await reader.read(jail, BodyCheck(source, base, answer, at, Millis(at - HOUR), number))
        except CheckFailed:
            continue
        base = base if reading.base is None else reading.base
        notes = notes if reading.note is None else add_note(notes, reading.note)
        told |= {draft.content for draft in reading.drafts}
        again = compare(base, [fingerprint_of(entry) for entry in feed.entries], number=number + 1)
        for i, entry in enumerate(feed.entries):
            known = "new" if i in again.new else "edited" if i in again.updated else "seen"
            reason = next(note_reasons(read_notes(notes), folded(entry.title)), feed_reason(entry, known))
            if entry.content not in told and reason.kind not in REASONS and not feed.cut:
                found.append(f"{number}: {entry.content}")
    return found


def _histories(seeds: range) -> Iterator[tuple[str, Source, Sequence[bytes], str]]:
    source = a_source(type="html")
    for kind in page_histories.KINDS:
        for seed in seeds:
            story = kind(random.Random(f"{kind.__name__}/{seed}"))
            chosen = a_source(type="html", selector=story.selector)
            yield f"{kind.__name__} {seed}", chosen, page_histories.bodies_of(story), story.content_type
    for seed in seeds:
        bodies = [body.encode() for body in json_histories.history(seed).bodies]
        yield f"JSON {seed}", source, bodies, JSON


async def _play(seeds: range) -> dict[str, list[str]]:
    found = {name: await pages(*rest) for name, *rest in _histories(seeds)}
    for kind in generated_feeds.KINDS:
        for seed in seeds:
            history = generated_feeds.KINDS[kind](random.Random(f"{kind} {seed}"))
            found[f"feed {kind} {seed}"] = await feeds(history.answers)
    return {name: texts for name, texts in found.items() if texts}


async def test_each_silence_has_a_reason() -> None:
    assert await _play(range(1)) == {}


async def test_each_silence_of_many_histories_has_a_reason() -> None:
    assert await _play(range(generated_feeds.HELD_OUT, generated_feeds.HELD_OUT + 20)) == {}
