"""Adding sources: paste URLs, preview their types and events, add them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from actors.errors import DomainError
from actors.messages.requests import DetectRequest, NewSource, Tags, Url, as_typed
from actors.messages.views import AddedSource
from actors.previews import Previewed
from api.dashboard.forms import Form, Wrong, wrong_of
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import each_said, say, say_many
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sources.inherited import inherited_part
from api.dashboard.sources.options import Options, checked, ignore_of, own_of, settings_in, tags_of, words_in
from api.dashboard.sources.words import KINDS
from api.operations import sources
from api.operations.batches import Failed
from api.problems import Refusal
from api.refusal_words import in_words
from api.refusals import refusal_of
from api.schemas.previews import DetectAnswer
from api.v1.previews import detection_of
from storage.records.source import Source
from storage.records.tiers import TIERS, Setting, SourceType

MOST: Final = 20
"""URLs per step, as in the API's batch."""
PATH: Final = "/sources/add"
LONGEST: Final = 2048


class AddQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """url: to begin with, from another page's field."""

    url: Annotated[str, Meta(max_length=2048)] = ""


class Look(Options, frozen=True, kw_only=True):
    """URLs to preview, one per line, and the settings for a single one."""

    urls: Annotated[str, Meta(max_length=60_000)]
    type: SourceType | None = None
    backfill: Annotated[int, Meta(ge=0, le=50)] = 0
    later: bool = False


NOTHING: Final = Look(urls="")


class Chosen(Form, frozen=True):
    """The ticked ones of several previews (`Pick` as JSON), and their common tags.

    shown: all choices; urls: those left for the next step; one per line.
    """

    pick: Annotated[tuple[str, ...], Meta(max_length=MOST)] = ()
    tags: Annotated[str, Meta(max_length=6_000)] = ""
    shown: Annotated[str, Meta(max_length=60_000)] = ""
    urls: Annotated[str, Meta(max_length=60_000)] = ""


class Pick(Struct, frozen=True, forbid_unknown_fields=True):
    """A URL that was previewed."""

    url: Url
    later: bool = False


class FoundUrl(NamedTuple):
    """The result for a pasted URL: its type, or why it cannot be watched."""

    url: str
    answer: DetectAnswer | None
    refusal: str = ""
    pick: str = ""

    @property
    def kind(self) -> str:
        """The kind that it would be watched as, for display."""
        return "" if self.answer is None else KINDS[watched_as(self.answer)]

    @property
    def settings(self) -> frozenset[Setting]:
        """The available settings of the kind that it would be watched as, which may differ from the detected one."""
        return frozenset() if self.answer is None else TIERS[watched_as(self.answer)].settings

    @property
    def title(self) -> str:
        return "" if self.answer is None else title_in(self.answer)


class AddedUrl(NamedTuple):
    """The result for one added URL."""

    url: str
    outcome: AddedSource | Failed

    @property
    def source(self) -> Source | None:
        """The source that watches it."""
        return self.outcome.view.source if isinstance(self.outcome, AddedSource) else None

    @property
    def status(self) -> Literal["watched", "there", "late", "refused"]:
        """The result as a word."""
        if isinstance(self.outcome, AddedSource):
            return "watched" if self.outcome.created else "there"
        return "late" if self.outcome.late else "refused"

    @property
    def says(self) -> str:
        """Its detection, or why it is not watched."""
        if isinstance(self.outcome, AddedSource):
            return self.outcome.view.source.detection.evidence
        return self.outcome.refusal.detail


def lines_of(text: str) -> tuple[str, ...]:
    r"""Return the URLs in a pasted text, each once; https is assumed without a scheme.

    >>> lines_of("a.test/feed\n\n# mine\nwss://b.test/\na.test/feed\nmailto:x\nb.test:81")
    ('https://a.test/feed', 'wss://b.test/', 'mailto:x', 'https://b.test:81')
    """
    lines = (line.strip() for line in text.split("\n"))
    return tuple(dict.fromkeys(as_typed(line) for line in lines if line and not line.startswith("#")))


def watched_as(answer: DetectAnswer) -> SourceType:
    """Return the type whose preview is shown."""
    shown = answer.preview
    return "feed" if shown.feed is not None else "push" if shown.push is not None else "html"


def title_in(answer: DetectAnswer) -> str:
    """Return a source's own title, normalised."""
    shown = answer.preview
    title = shown.feed.title if shown.feed is not None else shown.page.title if shown.page is not None else ""
    return sources.title_of(title)[:200]


async def blank(visit: Visit) -> Page:
    query: AddQuery = visit.query
    return _blank(query.url)


async def again(visit: Visit) -> Page:
    """Show the field with the typed or remaining URLs."""
    draft = visit.draft
    options = [name for name in NOTHING.__struct_fields__ if name != "urls"]
    return _blank(draft.value("urls"), is_open=any(draft.value(name) or draft.error(name) for name in options))


async def chosen_again(visit: Visit) -> Page:
    """Show the field with all choices and the remaining URLs."""
    draft = visit.draft
    urls = "\n".join(text for name in ("shown", "urls") if (text := draft.value(name)))
    visit.draft = replace(draft, given={**draft.given, "urls": (urls,)})
    return await again(visit)


def _blank(urls: str, *, is_open: bool = False) -> Page:
    shows = {"urls": urls, "most": MOST, "kinds": each_said(KINDS.items()), "form": NOTHING, "open": is_open}
    return Page("sources/add.html", say("Add sources"), shows)


async def look(visit: Visit) -> Page:
    """Preview the pasted URLs without adding them."""
    form: Look = visit.form
    urls = _lines(form.urls)
    if len(urls) > 1:
        return await _several(visit, form, urls)
    wish = DetectRequest(
        urls[0],
        form.type,
        form.selector,
        ignore_of(form),
        form.wanted,
        form.headers,
        form.render or "auto",
        form.wait_for,
        tags_of(form),
        own_of(form),
    )
    try:
        answer = detection_of(urls[0], await sources.detect(visit, wish))
    except (Refusal, DomainError) as error:
        if isinstance(error, DomainError) and error.may_pass:
            shows = {"form": form, "url": urls[0], "says": error.detail}
            return Page("sources/unreached.html", say("It can't be reached now"), shows)
        raise blamed(error) from None
    part = answer.preview.part
    shows = {
        "form": form,
        "found": FoundUrl(urls[0], answer),
        "kinds": each_said(KINDS.items()),
        "inherited": [] if part is None else inherited_part(part.selector, part.ignore, part.inherited),
    }
    return Page("sources/look.html", say("Add a source"), shows)


async def _several(visit: Visit, form: Look, urls: Sequence[str]) -> Page:
    now, rest = urls[:MOST], urls[MOST:]
    outcomes = await sources.detect_each(visit, now)
    found = [_found(url, outcome) for url, outcome in zip(now, outcomes, strict=True)]
    shows = {
        "found": found,
        "refused": [one.url for one in found if not one.pick and one.answer is None],
        "shown": [one.url for one in found if one.pick],
        "rest": rest,
        "tags": form.tags,
        "good": sum(bool(one.pick) for one in found),
    }
    return Page("sources/found.html", say_many("Found %(count)s URL", "Found %(count)s URLs", len(found)), shows)


def blamed(error: Refusal | DomainError) -> Wrong:
    """Return why a URL cannot be watched as form errors: at the field concerned, else at the URL."""
    refusal = refusal_of(error, owner=True)
    assert refusal is not None, "both kinds are in the table"
    errors = dict(wrong_of(refusal).errors)
    if "url" in errors:
        errors["urls"] = errors.pop("url")
    return Wrong(**errors or {"urls": translated(in_words(refusal.detail))})


def _lines(text: str) -> tuple[str, ...]:
    urls = lines_of(text)
    if not urls:
        raise Wrong(urls=say("Paste at least one URL."))
    if long := next((url for url in urls if len(url) > LONGEST), None):
        raise Wrong(urls=say("A URL has at most %(count)s characters: %(url)s…", count=LONGEST, url=long[:60]))
    return urls


def _found(url: str, outcome: Previewed | Failed) -> FoundUrl:
    if isinstance(outcome, Failed):
        later = msgspec.json.encode(Pick(url, later=True)).decode() if outcome.may_pass else ""
        return FoundUrl(url, None, in_words(outcome.refusal.detail), later)
    answer = detection_of(url, outcome)
    pick = "" if answer.source_id is not None else msgspec.json.encode(Pick(url)).decode()
    return FoundUrl(url, answer, "", pick)


async def add(visit: Visit) -> Go:
    form: Look = visit.form
    urls = _lines(form.urls)
    if len(urls) != 1:
        raise Wrong(urls=say("Here one URL is added. Look at several first."))
    later: Literal["now", "later"] = "later" if form.later else "now"
    new = NewSource(url=urls[0], type=form.type, backfill=form.backfill, verify=later, **settings_in(form))
    try:
        added = await sources.add(visit, new)
    except (Refusal, DomainError) as error:
        raise blamed(error) from None
    there = f"/sources/{added.view.source.id}"
    if not added.created:
        return Go(there, say("It was watched already. Nothing has changed."))
    if added.view.source.detection.pending:
        says = say("It is kept, and has yet to answer. Where it begins is what is there at its first answer.")
        return Go(there, says)
    says = say("It is watched from now on. What is there now is where it begins; what changes is told.")
    return Go(there, says)


async def add_chosen(visit: Visit) -> Page | Go:
    """Add the ticked URLs, and report the results."""
    form: Chosen = visit.form
    if not form.pick:
        raise Wrong(say("Nothing is ticked, so nothing was added."))
    picks = _picks(form.pick)
    tags = checked("tags", words_in(form.tags), Tags)
    new = tuple(_new(pick, tags) for pick in picks)
    outcomes = await sources.add_each(visit, new)
    added = [AddedUrl(one.url, outcome) for one, outcome in zip(new, outcomes, strict=True)]
    failed = [one for one in added if one.source is None]
    rest = lines_of(form.urls)
    if not failed and not rest:
        says = say_many("%(count)s source watched from now on.", "%(count)s sources watched from now on.", len(added))
        return Go("/sources", says)
    left = "\n".join((*(one.url for one in failed), *rest))
    shows = {"added": added, "failed": len(failed), "rest": len(rest), "left": left}
    title = say("Added %(done)s of %(all)s", done=len(added) - len(failed), all=len(added))
    return Page("sources/added.html", title, shows)


def _new(pick: Pick, tags: Tags) -> NewSource:
    return NewSource(pick.url, tags=tags, verify="later" if pick.later else "now")


def _picks(texts: Sequence[str]) -> tuple[Pick, ...]:
    try:
        return tuple(msgspec.json.decode(text, type=Pick) for text in texts)
    except (msgspec.MsgspecError, UnicodeError):
        raise Wrong(say("The form was not as it was sent to you. Paste the URLs again.")) from None


SCREENS = (
    Screen(path=PATH, run=blank, query=AddQuery),
    Screen(method="POST", path="/sources/look", run=look, form=Look, again=again),
    Screen(method="POST", path=PATH, run=add, form=Look, again=again),
    Screen(method="POST", path="/sources/chosen", run=add_chosen, form=Chosen, again=chosen_again),
)
