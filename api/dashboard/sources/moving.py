"""Import and export of the library as a list of feeds (OPML): read, preview, add in the background, write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from actors import outline
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.messages.requests import Tags, as_typed
from actors.messages.workers import BeginImport, Importing, ShowImport, StopImport
from actors.outline import FeedLine, Outline
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import say, say_many
from api.dashboard.screen import Download, Go, Page, Screen, Visit
from api.dashboard.sources.options import checked, words_in
from api.operations import sources
from storage.records.source import Source

PATH: Final = "/sources/import"
LIMIT: Final = 4 << 20
"""Bytes of a list with its form."""
SHOWN: Final = 200
READ_WITHIN: Final = 10.0
"""Seconds for a worker to read a list: thousands of lines in deep folders take several."""
A_SLICE: Final = 500


class Given(Form, frozen=True):
    """A list of feeds, as a file or as text."""

    file: bytes = b""
    text: Annotated[str, Meta(max_length=LIMIT)] = ""


class Begin(Form, frozen=True, kw_only=True):
    """The lines to add, as read (JSON). folders: turn folders into tags."""

    lines: Annotated[str, Meta(max_length=LIMIT)]
    tags: Annotated[str, Meta(max_length=6_000)] = ""
    folders: bool = False


class Foreseen(NamedTuple):
    """A line of a list before it is added. source: watches it already; refusal: why it cannot be added."""

    line: FeedLine
    source: str | None = None
    refusal: str = ""


async def moving(visit: Visit) -> Page:
    """Show the import form and the last import's progress."""
    last = await _last(visit)
    shows = {"last": last, "counts": last.counts() if last is not None else {}, "shown": SHOWN}
    return Page("sources/import.html", say("Import"), shows)


async def _last(visit: Visit) -> Importing | None:
    found: Importing | None = await visit.context.importer.ask(ShowImport)
    return found


async def read(visit: Visit) -> Page:
    """Preview a list without adding it."""
    form: Given = visit.form
    if not form.file and not form.text:
        raise Wrong(file=say("Choose a file, or paste what is in it."))
    found = await _read(visit, form.file or form.text.encode())
    rows = [await _foreseen(visit, line) for line in found.feeds]
    new = [row.line for row in rows if row.source is None and not row.refusal]
    shows = {
        "outline": found,
        "rows": rows[:SHOWN],
        "more": max(0, len(rows) - SHOWN),
        "new": len(new),
        "there": sum(row.source is not None for row in rows),
        "refused": [row for row in rows if row.refusal],
        "lines": msgspec.json.encode(new).decode(),
        "folders": any(line.tags for line in new),
    }
    title = say_many("%(count)s feed in the list", "%(count)s feeds in the list", len(rows))
    return Page("sources/import_read.html", title, shows)


async def _read(visit: Visit, body: bytes) -> Outline:
    """Read a list in a worker, as hostile input. Raises Wrong."""
    try:
        answer = await visit.context.world.jail.call("outline", body, deadline=READ_WITHIN)
    except TaskRefused as error:
        raise Wrong(file=translated(error.reason)) from None
    except (WorkerTooSlow, WorkerDied):
        raise Wrong(file=say("Reading it took too long or too much memory, and was stopped.")) from None
    return msgspec.msgpack.decode(answer, type=Outline)


async def _foreseen(visit: Visit, line: FeedLine) -> Foreseen:
    try:
        url = parse_url(as_typed(line.url))
    except UrlRefused as error:
        return Foreseen(line, refusal=error.detail)
    there = await visit.context.storage.sources.by_url(url.text)
    return Foreseen(line, None if there is None else there.id)


async def begin(visit: Visit) -> Go:
    form: Begin = visit.form
    given: tuple[str, ...] = checked("tags", words_in(form.tags), Tags)
    try:
        lines = msgspec.json.decode(form.lines, type=tuple[FeedLine, ...])
    except (msgspec.MsgspecError, UnicodeError):
        raise Wrong(say("The form was not as it was sent to you. Give the list again.")) from None
    return await _begin(visit, [_tagged(line, given, folders=form.folders) for line in lines])


def _tagged(line: FeedLine, given: Sequence[str], *, folders: bool) -> FeedLine:
    tags = sources.tags_of((*given, *(line.tags if folders else ())), "body.tags")
    return replace(line, tags=tags, title=sources.title_of(line.title)[:200])


async def _begin(visit: Visit, lines: Sequence[FeedLine]) -> Go:
    if not lines:
        raise Wrong(say("There is nothing to add."))
    await visit.context.importer.ask(lambda reply: BeginImport(lines, reply))
    says = say_many(
        "%(count)s feed is being added. You can leave this page.",
        "%(count)s feeds are being added, a few at a time. You can leave this page.",
        len(lines),
    )
    return Go(PATH, says)


async def again(visit: Visit) -> Go:
    """Retry the failed lines."""
    last = await _last(visit)
    failed = [row.line for row in last.rows if row.status == "failed"] if last is not None else []
    return await _begin(visit, failed)


async def stop(visit: Visit) -> Go:
    await visit.context.importer.ask(StopImport)
    return Go(PATH, say("Stopped. What was added by then is watched."))


async def export(visit: Visit) -> Download:
    """Return the library as a list of feeds."""
    library: list[Source] = []
    after: sources.Place | None = None
    while True:
        page = await sources.page(visit, A_SLICE, after)
        library += [view.source for view in page.views]
        if (after := page.next_after) is None:
            break
    library.sort(key=lambda source: source.id)
    text = "".join(outline.written(library, "Sanderling"))
    return Download("sanderling.opml", text.encode(), outline.MEDIA)


SCREENS = (
    Screen(path=PATH, run=moving),
    Screen(method="POST", path=f"{PATH}/read", run=read, form=Given, again=moving, limit=LIMIT),
    Screen(method="POST", path=PATH, run=begin, form=Begin, again=moving, limit=LIMIT),
    Screen(method="POST", path=f"{PATH}/again", run=again, form=Form, again=moving),
    Screen(method="POST", path=f"{PATH}/stop", run=stop, form=Form, again=moving),
    Screen(path="/sources/export", run=export),
)
