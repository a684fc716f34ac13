"""Adding sources: pasted URLs with their previews, and a list of feeds (OPML); the export of such a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, structs

from actors.egress.url import parse_url
from actors.errors import DomainError, UrlRefused
from actors.language.sentences import translated
from actors.language.speaking import say, say_many, translated_rows
from actors.messages import views
from actors.messages.declaring import part_of
from actors.messages.requests import DetectRequest, NewSource, Tags, as_typed
from actors.messages.views import FeedLine, Outline
from actors.messages.workers import BeginImport, Importing, ShowImport, StopImport
from actors.world import TaskRefused, WorkerDied, WorkerTooSlow
from api.dashboard import starting
from api.dashboard.forms import Form, InvalidForm, read_form, wrong_of
from api.dashboard.screen import Download, Go, Page, Screen, Visit, post, texts
from api.dashboard.sources.display import KINDS, with_unit
from api.dashboard.sources.one import Options, checked, inherited_part, settings_in, words_in
from api.dashboard.starting import StartFields
from api.fields.alerts import NewAlert
from api.fields.sources import DetectAnswer
from api.nouns import sources
from api.problems import Refusal, in_words
from api.refusals import refusal_of
from storage.records.tiers import TIERS, SourceType

PATH: Final = "/sources/add"
LONGEST: Final = 2048


@part_of(StartFields, StartFields.__struct_fields__)
class PreviewForm(Options, frozen=True, kw_only=True):
    """URLs to preview, one per line; for a single one its settings, and when to notify."""

    urls: Annotated[str, Meta(max_length=60_000)]
    type: SourceType | None = None
    backfill: Annotated[int, Meta(ge=0, le=50)] = 0
    later: bool = False


NOTHING: Final = PreviewForm(urls="")
_OPTIONS: Final = ("type", "backfill", *Options.__struct_fields__)


def found_url(url: str, answer: DetectAnswer) -> dict[str, Any]:
    """Return the result for a URL. settings: of the kind that it would be watched as, maybe not the detected one."""
    shown = answer.preview
    tier = TIERS["feed" if shown.feed is not None else "push" if shown.push is not None else "html"]
    title = shown.feed.title if shown.feed is not None else shown.page.title if shown.page is not None else ""
    title = sources.title_of(title)[:200]
    return {"url": url, "answer": answer, "kind": tier.noun, "settings": tier.settings, "title": title}


def lines_of(text: str) -> tuple[str, ...]:
    r"""Return the URLs in a pasted text, each once and with its scheme (see `as_typed`).

    >>> lines_of("a.test/feed\n\n# mine\nwss://b.test/\na.test/feed\nmailto:x\nb.test:81")
    ('https://a.test/feed', 'wss://b.test/', 'mailto:x', 'https://b.test:81')
    """
    lines = (line.strip() for line in text.split("\n"))
    return tuple(dict.fromkeys(as_typed(line) for line in lines if line and not line.startswith("#")))


async def blank(visit: Visit) -> Page:
    return _blank(visit.query.url)


async def again(visit: Visit) -> Page:
    draft = visit.draft
    return _blank(draft.value("urls"), is_open=any(draft.value(name) or draft.error(name) for name in _OPTIONS))


async def found_again(visit: Visit) -> Page:
    right = {name: texts for name, texts in visit.draft.given.items() if not visit.draft.error(name)}
    try:
        visit.form = read_form(right, PreviewForm)
        return await look(visit)
    except InvalidForm:
        return await again(visit)


def _blank(urls: str, *, is_open: bool = False) -> Page:
    shows = {"urls": urls, "kinds": translated_rows(KINDS.items()), "form": NOTHING, "open": is_open}
    return Page("sources/add.html", say("Add sources"), shows)


def detection_wish(form: PreviewForm, url: str, type: SourceType | None, **more: Any) -> DetectRequest:
    """Return the request to detect a URL with the form's settings. Raises InvalidForm."""
    given = {name: it for name, it in settings_in(form).items() if name in DetectRequest.__struct_fields__}
    return DetectRequest(url=url, type=type, **given | more)


async def look(visit: Visit) -> Page:
    form: PreviewForm = visit.form
    urls = _lines(form.urls)
    if len(urls) > 1:
        found = Outline("", tuple(map(FeedLine, urls)))
        return await _foreseen(visit, found, say("Add %(count)s URLs", count=len(urls)), form.tags)
    wish = detection_wish(form, urls[0], form.type)
    try:
        answer = await sources.detect(visit, wish)
    except (Refusal, DomainError) as error:
        if isinstance(error, DomainError) and error.may_pass:
            unreached = {"form": form, "url": urls[0], "says": error.detail}
            return Page("sources/unreached.html", say("It can't be reached now"), unreached)
        raise blamed(error) from None
    part, page, unset = answer.preview.part, answer.preview.page, [(it, getattr(NOTHING, it)) for it in _OPTIONS]
    values = () if page is None else page.values
    said = [structs.replace(row, text=with_unit(row.value, row.unit)) if row.unit else row for row in values]
    shows: dict[str, Any] = {
        "values": starting.telling(said),
        "start": form if form.when else starting.suggested(values),
        "whens": starting.WHENS,
        "of_values": starting.OF_VALUES,
        "prices": starting.prices(said),
        "recipients": await starting.recipients(visit),
        "open": any(getattr(form, it) not in (value, "auto") or visit.draft.error(it) for it, value in unset),
        "form": form,
        "found": found_url(urls[0], answer),
        "kinds": translated_rows(KINDS.items()),
        "inherited": [] if part is None else inherited_part(part.selector, part.ignore, part.inherited),
    }
    return Page("sources/look.html", say("Add a source"), shows)


def blamed(error: Refusal | DomainError) -> InvalidForm:
    refusal = refusal_of(error, owner=True)
    assert refusal is not None, "both kinds are in the table"
    errors = dict(wrong_of(refusal).errors)
    if "url" in errors:
        errors["urls"] = errors.pop("url")
    return InvalidForm(**errors or {"urls": translated(in_words(refusal.detail))})


def _lines(text: str) -> tuple[str, ...]:
    urls = lines_of(text)
    if not urls:
        raise InvalidForm(urls=say("Paste at least one URL."))
    if long := next((url for url in urls if len(url) > LONGEST), None):
        raise InvalidForm(urls=say("A URL has at most %(count)s characters: %(url)s…", count=LONGEST, url=long[:60]))
    return urls


def only_url(form: PreviewForm) -> str:
    """Return the URL of a form that takes one. Raises InvalidForm."""
    urls = _lines(form.urls)
    if len(urls) != 1:
        raise InvalidForm(urls=say("This form adds one URL. Preview several URLs first."))
    return urls[0]


async def add(visit: Visit) -> Go:
    form: PreviewForm = visit.form
    query = None
    if form.when:
        query = starting.query_of(form)
        await starting.check_address(visit, form.deliver, form.url)
    later: Literal["now", "later"] = "later" if form.later else "now"
    new = NewSource(url=only_url(form), type=form.type, backfill=form.backfill, verify=later, **settings_in(form))
    try:
        added = await sources.add(visit, new)
    except (Refusal, DomainError) as error:
        raise blamed(error) from None
    source = added.view.source
    there = f"/sources/{source.id}"
    if not added.created:
        return Go(there, say("It was watched already. Nothing has changed."))
    if source.detection.pending:
        says = say("Source added, but it has not answered yet. Its first answer becomes the baseline.")
    else:
        says = say("Source added. Its present content is the baseline; changes from now on are reported.")
    if query is None:
        return Go(there, says)
    name = f"{source.called}: {query}".removesuffix(": ")[:200]
    done = await starting.deliver(visit, form, NewAlert(query, source_ids=(source.id,), name=name), there=there)
    return replace(done, says=f"{says} {done.says}")


IMPORT_PATH: Final = "/sources/import"
LIMIT: Final = 4 << 20  # bytes of a list with its form
SHOWN: Final = 200
READ_WITHIN: Final = 10.0  # seconds for a worker to read a list: thousands of lines in deep folders take several
MOST_EXPORTED: Final = 1 << 20


class FeedListForm(Form, frozen=True):
    """A list of feeds, as a file or as text."""

    file: bytes = b""
    text: Annotated[str, Meta(max_length=LIMIT)] = ""


class Begin(Form, frozen=True, kw_only=True):
    """The lines to add, as read (JSON). folders: turn folders into tags."""

    lines: Annotated[str, Meta(max_length=LIMIT)]
    tags: Annotated[str, Meta(max_length=6_000)] = ""
    folders: bool = False


async def moving(visit: Visit) -> Page:
    last = await _last(visit)
    shows = {"last": last, "counts": last.counts() if last is not None else {}, "shown": SHOWN}
    return Page("sources/import.html", say("Import"), shows)


async def _last(visit: Visit) -> Importing | None:
    found: Importing | None = await visit.context.importer.ask(ShowImport)
    return found


async def read(visit: Visit) -> Page:
    form: FeedListForm = visit.form
    if not form.file and not form.text:
        raise InvalidForm(file=say("Choose a file, or paste its content."))
    try:
        body = form.file or form.text.encode()
        answer = await visit.context.world.jail.call("outline", body, deadline=READ_WITHIN)
    except TaskRefused as error:
        raise InvalidForm(file=translated(error.reason)) from None
    except (WorkerTooSlow, WorkerDied):
        raise InvalidForm(file=say("It took too long or too much memory to read.")) from None
    found = msgspec.msgpack.decode(answer, type=Outline)
    title = say_many("%(count)s feed in the list", "%(count)s feeds in the list", len(found.feeds))
    return await _foreseen(visit, found, title)


async def _foreseen(visit: Visit, found: Outline, title: str, tags: str = "") -> Page:
    rows = [await _standing(visit, line) for line in found.feeds]
    new = [line for line, source, refusal in rows if source is None and not refusal]
    shows = {
        "outline": found,
        "tags": tags,
        "rows": rows[:SHOWN],
        "more": max(0, len(rows) - SHOWN),
        "new": len(new),
        "there": sum(source is not None for _, source, _ in rows),
        "refused": [row for row in rows if row[2]],
        "lines": msgspec.json.encode(new).decode(),
        "folders": any(line.tags for line in new),
    }
    return Page("sources/import_read.html", title, shows)


async def _standing(visit: Visit, line: FeedLine) -> tuple[FeedLine, str | None, str]:
    try:
        url = parse_url(as_typed(line.url))
    except UrlRefused as error:
        return line, None, error.detail
    there = await visit.context.storage.sources.by_url(url.text)
    return line, None if there is None else there.id, ""


async def begin(visit: Visit) -> Go:
    form: Begin = visit.form
    given: tuple[str, ...] = checked("tags", words_in(form.tags), Tags)
    try:
        lines = msgspec.json.decode(form.lines, type=tuple[FeedLine, ...])
    except (msgspec.MsgspecError, UnicodeError):
        raise InvalidForm(say("This form is out of date. Upload the list again.")) from None
    named = [(*given, *(line.tags if form.folders else ())) for line in lines]
    tagged = [(line, sources.tags_of(tags, "body.tags")) for line, tags in zip(lines, named, strict=True)]
    return await _begin(
        visit, [structs.replace(it, tags=tags, title=sources.title_of(it.title)[:200]) for it, tags in tagged]
    )


async def _begin(visit: Visit, lines: Sequence[FeedLine]) -> Go:
    if not lines:
        raise InvalidForm(say("There is nothing to add."))
    await visit.context.importer.ask(lambda reply: BeginImport(lines, reply))
    says = say_many(
        "%(count)s feed is being added. You can leave this page.",
        "%(count)s feeds are being added, a few at a time. You can leave this page.",
        len(lines),
    )
    return Go(IMPORT_PATH, says)


async def retry(visit: Visit) -> Go:
    last = await _last(visit)
    failed = [row.line for row in last.rows if row.status == "failed"] if last is not None else []
    return await _begin(visit, failed)


async def stop(visit: Visit) -> Go:
    await visit.context.importer.ask(StopImport)
    return Go(IMPORT_PATH, say("Stopped. Sources added before this are watched."))


async def export(visit: Visit) -> Download:
    library = sorted(await sources.every(visit, MOST_EXPORTED), key=lambda source: source.id)
    text = "".join(views.written(library, "Sanderling"))
    return Download("sanderling.opml", text.encode(), views.MEDIA)


SCREENS: tuple[Screen, ...] = (
    Screen(path=PATH, run=blank, query=texts(url=2048)),
    post("/sources/look", look, PreviewForm, again),
    post(PATH, add, PreviewForm, found_again),
    Screen(path=IMPORT_PATH, run=moving),
    post(f"{IMPORT_PATH}/read", read, FeedListForm, moving, limit=LIMIT),
    post(IMPORT_PATH, begin, Begin, moving, limit=LIMIT),
    post(f"{IMPORT_PATH}/again", retry, Form, moving),
    post(f"{IMPORT_PATH}/stop", stop, Form, moving),
    Screen(path="/sources/export", run=export),
)
