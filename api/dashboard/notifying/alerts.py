"""Alerts: the list, one with its matches and buttons, and the form with a trial of its query on the last week."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple
from zoneinfo import ZoneInfo

import trio
from msgspec import Meta, Struct

from actors.errors import DomainError, Unprocessable
from actors.language.sentences import translated
from actors.language.speaking import decimal, noted, number, say, say_many, translated_rows
from actors.messages.declaring import made_of, mirrored
from actors.notices import ALERT_TYPES
from actors.query import QueryError, UnknownLanguage, languages, parse
from api.dashboard.drawing import LinePiece, by_utc, named
from api.dashboard.events import Item, items_by_id
from api.dashboard.forms import Confirm, Form, InvalidForm, draft_of
from api.dashboard.lists import address, part
from api.dashboard.notifying.destinations import MODES, sample, standings, with_sample
from api.dashboard.picker import Group, picker, private_choices, sources_of
from api.dashboard.screen import Go, Page, Screen, Visit, act, buttons, post, texts
from api.dashboard.sources.display import Course, name_of
from api.dashboard.starting import WHENS, WhenName, already, check_address, deliver, in_words, query_of, recipients
from api.fields import alerts as wire
from api.fields.destinations import HookUrl
from api.nouns import alerts
from api.nouns.alerts import AlertPreview, AlertPreviewRequest, PreviewMatch, Stretch, check_query, tags_in, trial
from api.nouns.sources import private_sources
from api.problems import Refusal
from api.ratelimit import Limit
from storage.records.alert import MOST_TAGS, NOTICES_OF_SOURCES, Alert, Scope
from storage.records.destination import DeliveryMode
from storage.records.identity import Millis, Seq, day_of, id_of, parse_rfc3339, seq_at, seq_of
from storage.records.revision import revision_of
from storage.records.source import tag_of

DAYS = 7
_DAY = 86_400_000


def days_until(now: Millis) -> range:
    return range(day_of(now) - DAYS + 1, day_of(now) + 1)


def volume(counts: Mapping[int, int], now: Millis, zone: ZoneInfo) -> Course:
    """Return counts by day (UTC, as matches are counted), today last.

    >>> volume({0: 2}, Millis(86_400_000), ZoneInfo("Asia/Kolkata")).says
    '2 matches in the last 7 days; most on 1 Jan: 2 (days by UTC)'
    """
    days = days_until(now)
    values = [counts.get(day, 0) for day in days]
    labels = [f"{named(day)}: {value}" for day, value in zip(days, values, strict=True)]
    total, most = sum(values), max(values)
    says = say("no matches in the last %(days)s days", days=DAYS)
    if total:
        says = say_many(
            "%(count)s match in the last %(days)s days; most on %(day)s: %(most)s",
            "%(count)s matches in the last %(days)s days; most on %(day)s: %(most)s",
            total,
            days=DAYS,
            day=named(days[values.index(most)]),
            most=most,
        )
    return Course(values, labels, says + by_utc(now, zone))


class ShownMatch(NamedTuple):
    """A match as shown. item: None if no longer stored. excerpts: a word ("" for the content), and the pieces."""

    match: PreviewMatch
    title: Sequence[LinePiece]
    excerpts: Sequence[tuple[str, Sequence[LinePiece]]]
    item: Item | None = None


_PARTS = {"added": noted("added"), "removed": noted("removed"), "before": noted("was"), "after": noted("now")}


class Fault(NamedTuple):
    """An error in a query: the text before, at and after its position, and the reason."""

    before: str
    at: str
    after: str
    reason: str


def pieces(text: str, marks: Sequence[tuple[int, int]], start: int = 0) -> list[LinePiece]:
    """Split a text into pieces. start: the text's offset in the whole that the marks count in.

    >>> [tuple(piece) for piece in pieces("a price is", [(12, 17)], 10)]
    [('a ', False), ('price', True), (' is', False)]
    """
    found: list[LinePiece] = []
    at = 0
    for mark in marks:
        begin, end = max(at, mark[0] - start), min(len(text), mark[1] - start)
        if begin < end:
            found += [LinePiece(text[at:begin]), LinePiece(text[begin:end], marked=True)]
            at = end
    return [piece for piece in (*found, LinePiece(text[at:])) if piece.text]


def shown_match(match: PreviewMatch, item: Item | None = None) -> ShownMatch:
    marks = match.highlights
    excerpts = [(_PARTS[part.part], _in_pieces(part)) for part in marks.diff]
    excerpts += [("", _in_pieces(part)) for part in marks.content]
    return ShownMatch(match, pieces(match.title, marks.title) or [LinePiece(say("(without a title)"))], excerpts, item)


def _in_pieces(part: alerts.ContentExcerpt | alerts.DiffExcerpt) -> list[LinePiece]:
    return pieces(("… " if part.start else "") + part.text, part.marks, part.start - 2 * bool(part.start))


def fault_of(query: str, language: str) -> Fault | None:
    """Return where a query is invalid, or None.

    >>> fault_of('price OR', "en")[:3]
    ('price OR', ' ', '')
    """
    try:
        parse(query, language, strict=True)
    except QueryError as error:
        place = min(error.position - 1, len(query))
        return Fault(query[:place], query[place : place + 1] or " ", query[place + 1 :], error.reason)
    except UnknownLanguage:
        pass  # the language's own field reports it
    return None


TRIAL_MATCHES = 8
ABOUT = (
    ("change", noted("Changes: added and removed text")),
    ("added", noted("Only added text")),
    ("removed", noted("Only removed text")),
    ("page", noted("The whole page, whatever changed on it")),
)
"""The texts of a watched page that an alert can search, with labels."""


class AlertForm(wire.NewAlert, Form, frozen=True, kw_only=True):
    """The fields of an alert. tags: ticked; other_tags: typed, separated by commas. find: words of sources."""

    unshown: ClassVar = ("enabled", *wire.NOT_BY_HAND)
    filter_query: wire.FilterQuery = ""
    scope: Literal["all", "some"] = "all"
    tags: tuple[str, ...] = ()
    other_tags: Annotated[str, Meta(max_length=4096)] = ""
    find: str = ""
    notices: wire.Notices = ()
    once_per_story: bool = False


class NewAlertForm(AlertForm, frozen=True, kw_only=True):
    """A new alert with its first destination, see `starting.Starting`."""

    when: WhenName = "query"
    than: Annotated[str, Meta(max_length=500)] = ""
    deliver: Annotated[str, Meta(max_length=40)] = "later"
    url: HookUrl | None = None
    delivery_mode: DeliveryMode = "instant"


class AlertEdit(AlertForm, frozen=True, kw_only=True):
    """A change of an alert, from the revision that was shown."""

    revision: str = ""


def _typed(form: AlertForm, scope: Scope) -> dict[str, Any]:
    once = None if form.once_per_story == scope.several else form.once_per_story  # as the sources make it
    of = {"filter_query": wanted_query(form), "tags": scope.tags, "once_per_story": once}
    of |= {"source_ids": scope.sources, "private_source_ids": scope.private}
    return mirrored(form, Alert, {"name", *of, *AlertForm.unshown}) | of


def wanted_query(form: AlertForm) -> str:
    """Return the query as typed, or that of the chosen condition. Raises InvalidForm."""
    is_typed = not isinstance(form, NewAlertForm) or form.when == "query"
    return form.filter_query if is_typed else query_of(form)


def chosen(form: AlertForm) -> Scope:
    """Return the chosen sources and tags. Raises InvalidForm for "some" without any: the alert would cover all."""
    if form.scope == "all":
        return Scope((), (), form.private_source_ids)
    typed = [tag for tag in (*form.tags, *form.other_tags.split(",")) if tag.strip()]
    try:
        tags = tags_in(typed)
    except Unprocessable as error:
        raise InvalidForm(other_tags=f"{error.value}: {translated(error.detail)}.") from None
    if not (form.source_ids or tags):
        raise InvalidForm(source_ids=say("Choose at least one tag or source, or take all sources."))
    if len(tags) > MOST_TAGS:
        says = say("An alert names at most %(most)s tags; these are %(count)s.", most=MOST_TAGS, count=len(tags))
        raise InvalidForm(other_tags=says)
    return Scope(tuple(dict.fromkeys(form.source_ids)), tags, form.private_source_ids)


def form_of(alert: Alert) -> AlertEdit:
    where = "all" if alert.scope.everywhere else "some"
    return made_of(AlertEdit, alert, scope=where, once_per_story=alert.meets_once, revision=revision_of(alert))


class TrialResult(NamedTuple):
    """The outcome: an error in the query, a reason why it was not tried (`says`), or the matches."""

    fault: Fault | None = None
    says: str = ""
    found: AlertPreview | None = None
    volume: Course | None = None
    headline: str = ""
    reach: str = ""
    matches: Sequence[ShownMatch] = ()


async def tried(visit: Visit, form: AlertForm, scope: Scope) -> TrialResult:
    query = wanted_query(form)
    fault = fault_of(query, form.language)
    if fault is not None:
        return TrialResult(fault=fault)
    of: dict[str, Any] = {"tags": tuple(scope.tags), "private_source_ids": tuple(scope.private)}
    of |= {"source_ids": tuple(scope.sources), "match": form.match, "limit": TRIAL_MATCHES}
    wanted = alerts.AlertPreviewRequest(query, form.language, **of)
    try:
        check_query(query, form.language)
        since = Seq(seq_at(Millis(visit.now - DAYS * _DAY)) - 1)
        found = await alerts.preview(visit, wanted, alerts.Stretch(after=since))
    except (Refusal, DomainError) as error:
        return TrialResult(says=error.detail)
    days = {day_of(parse_rfc3339(f"{day.day}T00:00:00Z")): day.matches for day in found.days}
    bars, matches, number = volume(days, visit.now, visit.zone), await matched(visit, found.matches), found.looked_at
    reach = say_many(
        "Only the newest %(count)s event was searched.", "Only the newest %(count)s events were searched.", number
    )
    reach = "" if found.complete and found.looked_at < alerts.MOST_EVENTS else reach
    return TrialResult(None, "", found, bars, _headline(found) + already(found.true_now), reach, matches)


async def matched(visit: Visit, matches: Sequence[PreviewMatch]) -> list[ShownMatch]:
    items = await items_by_id(visit, (match.id for match in matches))
    return [shown_match(match, items.get(match.id)) for match in matches]


def _headline(found: AlertPreview) -> str:
    met, rate = number(found.matches_found), found.per_day
    if not found.looked_at:
        return say("There were no events in the last week to try it on.")
    says = say_many(
        "%(met)s of %(count)s event would have matched.",
        "%(met)s of %(count)s events would have matched.",
        found.looked_at,
        met=met,
    )
    return (
        says if rate is None else f"{says} {say('About %(rate)s a day.', rate=decimal(rate, 0 if rate >= 10 else 1))}"
    )


NOTICES = (
    ("source_quiet", noted("A source has gone quiet"), noted("It used to change and no longer does.")),
    ("source_recovered", noted("A source is back"), noted("An earlier problem is over.")),
    ("source_failing", noted("A source can't be read"), noted("It has failed for the time below.")),
    (
        "source_reset",
        noted("A source reported nearly everything as new"),
        noted("Most of a feed is new at once: it is held back."),
    ),
    ("source_moved", noted("A page leads elsewhere"), noted("Its address now leads to another page, permanently.")),
    ("destination_failing", noted("A destination fails"), noted("Deliveries to it have failed without one success.")),
    (
        "destination_disabled",
        noted("A destination was disabled"),
        noted("After five days of failures, or because it answered 410."),
    ),
    ("watching_stalled", noted("Checks have stopped"), noted("Checks are due but do not run.")),
    ("storage_damaged", noted("The database is damaged"), noted("A backup must be restored.")),
    (
        "heartbeat",
        noted("Heartbeats"),
        noted("At even times, while the service does its work: the setting heartbeat_event says how often."),
    ),
)
AFTER = (
    *((0, noted("at once")), (900, noted("15 minutes")), (3600, noted("an hour"))),
    *((21600, noted("6 hours")), (86400, noted("a day"))),
)
assert tuple(name for name, *_ in NOTICES) == ALERT_TYPES


class NewQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that a link to the form may fill: a query, its language, sources, tags, a condition."""

    when: WhenName = "any"
    q: Annotated[str, Meta(max_length=4096)] = ""
    language: wire.LanguageCode = "en"
    source: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    tag: Annotated[tuple[str, ...], Meta(max_length=50)] = ()


async def new(visit: Visit) -> Page:
    query: NewQuery = visit.query
    start = NewAlertForm(
        when="query" if query.q else query.when,
        filter_query=query.q,
        language=query.language,
        scope="some" if query.source or query.tag else "all",
        source_ids=query.source,
        tags=tuple(map(tag_of, query.tag)),
        notices=NOTICES_OF_SOURCES,
        once_per_story=Scope(query.source, query.tag).several,
    )
    return await _page(visit, start)


async def try_new(visit: Visit) -> Page:
    return await _tried(visit, visit.form)


async def try_bin(visit: Visit) -> Page:
    return await with_sample(visit, new, await sample(visit))


async def create(visit: Visit) -> Go:
    form: NewAlertForm = visit.form
    new = wire.NewAlert(**_typed(form, chosen(form)), name=form.name)
    await check_address(visit, form.deliver, form.url)
    return await deliver(visit, form, new)


async def edit(visit: Visit) -> Page:
    alert = await alerts.named(visit, visit.path["id"])
    return await _page(visit, form_of(alert), alert_id=alert.id, name=alert.name)


async def try_edit(visit: Visit) -> Page:
    alert = await alerts.named(visit, visit.path["id"])
    return await _tried(visit, visit.form, alert_id=alert.id, name=alert.name)


async def change(visit: Visit) -> Go:
    form: AlertEdit = visit.form
    alert = await alerts.named(visit, visit.path["id"])
    wanted = _typed(form, chosen(form)) | {"name": form.name or alert.name}  # an emptied name stays
    await alerts.change(visit, alert.id, wanted, frozenset((form.revision,)), seen=True)
    return Go(f"/alerts/{alert.id}", say("Saved. The change holds for the next event."))


async def _tried(visit: Visit, form: AlertForm, **more: Any) -> Page:
    visit.draft = draft_of(form)
    try:
        result = await tried(visit, form, chosen(form))
    except InvalidForm as error:
        result = TrialResult(says=str(error))
    return await _page(visit, form, result, **more)


async def _page(
    visit: Visit, form: AlertForm, result: TrialResult | None = None, *, alert_id: str = "", name: str = ""
) -> Page:
    draft = visit.draft
    picked, tags = draft.texts("source_ids", form.source_ids), draft.texts("tags", form.tags)
    choice = await picker(visit, picked, draft.value("find"))
    known = {group.tag for group in choice.groups}
    query = draft.value("filter_query")
    shows = {
        "form": form,
        "alert_id": alert_id,
        "name": name,
        "tried": result,
        "fault": fault_of(query, draft.value("language")) if draft.error("filter_query") else None,
        "languages": sorted(translated_rows(languages().items()), key=lambda one: (one[0] != "simple", one[1])),
        "picker": choice,
        "chosen": picked,
        "private": await private_choices(visit, form.private_source_ids),
        "tags": tags,
        "groups": [*(Group(tag, 0) for tag in tags if tag not in known), *choice.groups],
        "notices": translated_rows(NOTICES),
        "after": _after(form.notice_after),
        "modes": translated_rows(MODES),
        "about": translated_rows(ABOUT),
        "whens": WHENS,
        "sent": "",
        "recipients": await recipients(visit) if isinstance(form, NewAlertForm) else (),
    }
    return Page("alerts/form.html", say("Edit %(name)s", name=name) if alert_id else say("New alert"), shows)


def _after(standing: int) -> list[tuple[int, str]]:
    known = {after: say(words) for after, words in AFTER}
    if standing not in known:
        minutes = standing // 60
        known[standing] = say("%(count)s seconds", count=standing)
        if not standing % 60:
            known[standing] = say_many("%(count)s minute", "%(count)s minutes", minutes)
    return sorted(known.items())


PAGE = 50
SHOWN_TAGS = 2  # tags named per row; with more, only their number


async def listing(visit: Visit) -> Page:
    query, everyone = visit.query, await visit.context.storage.alerts.all()
    everyone = sorted(everyone, key=lambda each: (each.created_at, each.id), reverse=True)
    fitting = [alert for alert in everyone if fits(alert, query.q)]
    page = part(fitting, query.after, PAGE)
    shows = {
        "rows": await _rows(visit, page.rows),
        "total": len(everyone),
        "fitting": len(fitting),
        "caption": caption(len(fitting), page.start, len(page.rows)),
        "next": page.last and address("/alerts", q=query.q, after=page.last),
        "previous": address("/alerts", q=query.q) if page.start else "",
    }
    return Page("alerts/list.html", say("Alerts"), shows)


def caption(total: int, start: int, shown: int) -> str:
    """Return the caption of a list's page.

    >>> caption(3, 0, 3), caption(120, 50, 50)
    ('3 alerts, the newest first', '51 to 100 of 120 alerts, the newest first')
    """
    if shown == total:
        return say_many("%(count)s alert, the newest first", "%(count)s alerts, the newest first", total)
    first, last = start + 1, start + shown
    return say("%(first)s to %(last)s of %(all)s alerts, the newest first", first=first, last=last, all=total)


def fits(alert: Alert, words: str) -> bool:
    text = f"{alert.name} {alert.filter_query} {alert.channel or ''}".casefold()
    return all(word in text for word in words.casefold().split())


async def _rows(visit: Visit, alerts: Sequence[Alert]) -> list[dict[str, Any]]:
    storage = visit.context.storage.alerts
    met = await storage.matched([alert.id for alert in alerts], days_until(visit.now))
    rows = []
    for alert in alerts:
        hooks = await storage.destinations(alert.id)
        row = {
            "alert": alert,
            "words": in_words(alert.filter_query),
            "language": say(languages().get(alert.language, alert.language)),
            "sources": sources_words(alert),
            "destinations": say_many("%(count)s destination", "%(count)s destinations", len(hooks)) if hooks else "",
            "trouble": sum(not hook.enabled or hook.state != "active" for hook in hooks),
            "volume": volume(met.get(alert.id, {}), visit.now, visit.zone),
        }
        rows.append(row)
    return rows


def sources_words(alert: Alert) -> str:
    ids = say_many("%(count)s source", "%(count)s sources", len(alert.source_ids)) if alert.source_ids else ""
    tags = ", ".join(tag.removeprefix("label:") for tag in alert.tags)
    if len(alert.tags) > SHOWN_TAGS:
        tags = say_many("%(count)s tag", "%(count)s tags", len(alert.tags))
    if ids and tags:
        return say("%(one)s and %(other)s", one=ids, other=tags)
    return ids or tags or say("all sources")


MATCHES = 10  # matches per page
PACE = Limit(rate=1.0, burst=20)  # pages of matches for all readers together; each takes a worker up to two seconds
NAMED = 12  # sources to name; of more, these and the total
_END = Seq((1 << 63) - 1)


class Matches(NamedTuple):
    """A page of matches. older: the id to continue from. looked_at: the number of events searched."""

    shown: Sequence[ShownMatch] = ()
    older: str = ""
    looked_at: int = 0
    says: str = ""


async def one(visit: Visit) -> Page:
    alert = await alerts.named(visit, visit.path["id"])
    met = await visit.context.storage.alerts.matched([alert.id], days_until(visit.now))
    hooks = await visit.context.storage.alerts.destinations(alert.id)
    shows = {
        "alert": alert,
        "words": in_words(alert.filter_query),
        "over": sources_words(alert),
        "language": say(languages().get(alert.language, alert.language)),
        "about": dict(ABOUT)[alert.match],
        "volume": volume(met.get(alert.id, {}), visit.now, visit.zone),
        "private": await private_sources(visit, alert.scope, alert.has_left),
        "sources": await sources_of(visit, alert.source_ids[:NAMED]),
        "name_of": name_of,
        "notices": [say(words) for name, words, _ in NOTICES if name in alert.notices],
        "matches": await _matches(visit, alert),
        "first": not visit.query.before,
        "standings": await standings(visit, hooks),
    }
    return Page("alerts/one.html", alert.name, shows)


_ONE = "/alerts/{id}"
resume = act(_ONE, noted("The alert matches again, from the next event on."), alerts.change, {"enabled": True})
pause = act(_ONE, noted("Paused. Earlier matches are still delivered."), alerts.change, {"enabled": False})
seen = act(_ONE, noted("They stay left out."), alerts.change, {}, seen=True)
"""Leaves out the sources that have become private, and hides the note about them."""


async def delete(visit: Visit) -> Go:
    alert = await alerts.named(visit, visit.path["id"])
    visit.form.check_deletion()
    await alerts.delete(visit, alert.id)
    return Go("/alerts", say("“%(name)s” is deleted, with its destinations.", name=alert.name))


async def _matches(visit: Visit, alert: Alert) -> Matches:
    before = _END
    try:
        parse(alert.filter_query, alert.language)
    except (QueryError, UnknownLanguage) as error:
        return Matches(says=str(error))  # written by another version
    if visit.query.before:
        try:
            before = seq_of(visit.query.before)
        except ValueError:
            return Matches(says=say("There is no such page of matches."))
    wanted = AlertPreviewRequest(alert.filter_query, alert.language, limit=MATCHES, match=alert.match)
    if not visit.limiter.take("matches of alerts", PACE, trio.current_time()).admitted:
        return Matches(says=say("Too many pages of matches were requested. Reload this page in a moment."))
    try:
        found = await trial(visit, wanted, alert.scope, Stretch(before=before, full=True))
    except DomainError as error:
        return Matches(says=error.detail)
    older = "" if found.further is None else id_of(found.further, 0)
    return Matches(await matched(visit, found.preview.matches), older, found.preview.looked_at)


SCREENS: tuple[Screen, ...] = (
    Screen(path="/alerts", run=listing, query=texts(q=200, after=40)),
    Screen(path="/alerts/new", run=new, query=NewQuery),
    post("/alerts/new", create, NewAlertForm, new),
    post("/alerts/try", try_new, NewAlertForm, new),
    post("/alerts/bin", try_bin, NewAlertForm, new, query=NewQuery),
    Screen(path="/alerts/{id}", run=one, query=texts(before=40)),
    Screen(path="/alerts/{id}/edit", run=edit),
    post("/alerts/{id}/edit", change, AlertEdit, edit),
    post("/alerts/{id}/try", try_edit, AlertEdit, edit),
    *buttons("/alerts/{id}", one, resume=resume, pause=pause, seen=seen),
    post("/alerts/{id}/delete", delete, Confirm, one),
)
