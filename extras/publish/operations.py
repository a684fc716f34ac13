"""Publications: create, change, give a new address, delete; the events that each shows; their routes."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from msgspec.structs import replace

from actors.errors import Conflict, NotFound, Unprocessable
from actors.messages.declaring import made_of
from actors.notification.dialects import one_line
from api.etags import created, deleting, etag_of, expected, shown
from api.fields.publications import FeedAddresses, NewPublication, PublicationPatch, PublicationRecord
from api.fields.queries import ListQuery
from api.nouns.alerts import named_in
from api.nouns.context import OperationContext, as_id, edit_of, existing, known_id, refuse_stale, whole
from api.nouns.events import event_filter_of
from api.nouns.streams import Carried, carried
from api.pagination import oldest_first
from api.route import LETS_OUT, Answer, Call, Routes
from api.streams.channels import channel_of
from api.streams.reader import EventFilter
from storage.records.identity import given_fields
from storage.records.publication import MOST_PUBLICATIONS, Publication, hash_of
from storage.records.revision import Expected, revision_of
from storage.records.tiers import Kind

Change = Callable[[Publication], Publication]

PATH = "/published/"
HUB = "/hub"
TOKEN_BYTES = 24
MISSING = "There is no such publication."
_NEWS = (Kind.PUSH, Kind.FEED, Kind.HTML)  # the published kinds: changes, not notices


def address(call: OperationContext, publication: Publication) -> str | None:
    """Return a publication's address, or None if its token is lost."""
    token = publication.token
    return None if token is None else f"{call.context.settings.public_url()}{PATH}{token}"


async def every(call: OperationContext) -> Sequence[Publication]:
    return await call.context.storage.publications.all()


async def named(call: OperationContext, id: str) -> Publication:
    return existing(await call.context.storage.publications.get(known_id(id, "publication")), MISSING)


@whole
async def add(call: OperationContext, new: NewPublication, planned: str | None = None) -> Publication:
    """Publish, or return the publication with the `planned` id. Raises Refusal, Unprocessable, Conflict."""
    store, now = call.context.storage.publications, call.context.world.now()
    if planned is not None and (there := await store.get(planned)) is not None:
        return there
    wanted = given_fields(new, Publication)
    named = await named_in(call, wanted)
    if len(await store.all()) >= MOST_PUBLICATIONS:
        raise Conflict(f"there are {MOST_PUBLICATIONS} publications, the most possible: delete one first")
    token = _token(call)
    made = Publication(
        id=planned or call.context.world.new_id(),
        token_hash=hash_of(token),
        token=token,
        created_at=now,
        updated_at=now,
        updated_by=call.by,
        **wanted | {"title": _title(new.title), "alert_ids": _ids(new.alert_ids)} | named,
    )
    await _check(call, made)
    await store.put(made)
    return made


@whole
async def change(
    call: OperationContext, id: str, wanted: Mapping[str, Any], expected: Expected = None, *, seen: bool = False
) -> Publication:
    """Change one publication; if `seen`, it is of now in any case. Raises NotFound, Stale, Refusal, Unprocessable."""
    old = await named(call, id)
    changes = {**wanted, **await named_in(call, wanted, old)}
    if "title" in changes:
        changes["title"] = _title(changes["title"])
    if "alert_ids" in changes:
        changes["alert_ids"] = _ids(changes["alert_ids"])
    if changes.keys() & {"alert_ids", "channel", "ends_on"}:
        await _check(call, replace(old, **changes))
    return await _edited(call, old.id, edit_of(call, changes, expected, seen=seen))


@whole
async def readdress(call: OperationContext, id: str) -> Publication:
    """Give a publication a new address; the old one answers 404 from then on. Raises NotFound."""
    token, now = _token(call), call.context.world.now()

    def changed(record: Publication) -> Publication:
        return replace(record, token=token, token_hash=hash_of(token), updated_at=now, updated_by=call.by)

    return await _edited(call, known_id(id, "publication"), changed)


@whole
async def delete(call: OperationContext, id: str, expected: Expected = None) -> None:
    """Delete a publication. Raises NotFound, Stale."""
    known = known_id(id, "publication")
    if not await call.context.storage.publications.delete(known, lambda it: refuse_stale(it, expected)):
        raise NotFound(MISSING)


async def filter_of(call: OperationContext, publication: Publication, only: Sequence[str] = ()) -> EventFilter:
    """Return the filter by current alerts and channels. only: sources that narrow it. Raises NotFound."""
    named = publication.source_ids
    if only and named and not (only := [id for id in only if id in named]):
        raise NotFound("This source is not published here.")
    if publication.alert_ids:
        alerts = [alert for alert in await call.context.storage.alerts.all() if alert.id in publication.alert_ids]
        if not alerts:
            raise NotFound("The alerts of this publication are gone.")
        of = Carried(kinds=_NEWS, of_alerts=channel_of(alerts))
    elif publication.channel is not None:
        of = await carried(call, publication.channel)
    else:
        # Practice only if its source is named.
        of = Carried(kinds=(*_NEWS, Kind.PRACTICE) if publication.source_ids else _NEWS)
    return event_filter_of(
        only or named,
        (),
        publication.tags,
        (),
        call.streams.texts,
        kinds=tuple(kind for kind in of.kinds if kind != Kind.HELD),
        channel=of.of_alerts,
        label=of.label,
        hides=lambda source: is_left_out(call, publication, source),
    )


def is_left_out(call: OperationContext, publication: Publication, source: str) -> bool:
    return not publication.scope.names(source) and call.context.is_private(source)


async def _edited(call: OperationContext, id: str, change: Change) -> Publication:
    return existing(await call.context.storage.publications.edit(id, change), MISSING)


async def _check(call: OperationContext, publication: Publication) -> None:
    """Raise Unprocessable for unknown alerts and channels, for both together, or for a day that does not exist."""
    try:
        date.fromisoformat(publication.ends_on or "2026-12-31")
    except ValueError:
        raise Unprocessable("no such day", "body.ends_on", publication.ends_on) from None
    if publication.alert_ids and publication.channel is not None:
        raise Unprocessable("name alerts or a channel, not both", "body.channel", publication.channel)
    known = {alert.id for alert in await call.context.storage.alerts.all()} if publication.alert_ids else set()
    for index, id in enumerate(publication.alert_ids):
        if id not in known:
            raise Unprocessable(f"there is no alert {id}", f"body.alert_ids[{index}]", id)
    if publication.channel is not None:
        try:
            await carried(call, publication.channel)
        except NotFound as error:
            raise Unprocessable(error.detail, "body.channel", publication.channel) from None


def _title(text: str) -> str:
    """Return a title as one line. Raises Unprocessable for an empty one."""
    if not (title := one_line(text)):
        raise Unprocessable("a title has at least one letter", "body.title", text)
    return title


def _ids(values: Sequence[str]) -> tuple[str, ...]:
    """Return normalised alert ids, each once. Raises Refusal (400)."""
    says = "not the id of an alert"
    return tuple(dict.fromkeys(as_id(text, f"body.alert_ids[{n}]", says) for n, text in enumerate(values)))


def _token(call: OperationContext) -> str:
    return urlsafe_b64encode(call.context.world.entropy(TOKEN_BYTES)).decode()


def _record(call: Call, publication: Publication) -> PublicationRecord:
    url = address(call, publication)
    feeds = None if url is None else FeedAddresses(atom=f"{url}.atom", rss=f"{url}.rss", json=f"{url}.json")
    return made_of(PublicationRecord, publication, revision=revision_of(publication), url=url, feeds=feeds)


ROUTES = Routes("/v1/publications", "publications")
_ONE = {200: PublicationRecord}


@ROUTES(
    "POST",
    "",
    {201: PublicationRecord},
    beside=LETS_OUT,
    body=(NewPublication,),
    refuses=("conflict", "unprocessable"),
    repeatable=True,
)
async def create(call: Call) -> Answer:
    """Publish events as feeds and a page."""
    made = await add(call, call.body, call.planned)
    return created(call, f"publications/{made.id}", made, _record(call, made))


@ROUTES("GET", "", {200: list[PublicationRecord]}, query=ListQuery)
async def list_publications(call: Call) -> Answer:
    """List publications, oldest first."""
    page, headers = oldest_first(call, await every(call))
    return Answer([_record(call, each) for each in page], headers=headers)


@ROUTES("GET", "/{id}", _ONE | {304: None})
async def describe(call: Call) -> Answer:
    """Read one publication."""
    found = await named(call, call.path["id"])
    return shown(call, found, _record(call, found))


@ROUTES(
    "PATCH", "/{id}", _ONE, beside=LETS_OUT, body=(PublicationPatch,), refuses=("precondition-failed", "unprocessable")
)
async def patch(call: Call) -> Answer:
    """Change one publication."""
    changed = await change(call, call.path["id"], given_fields(call.body, PublicationPatch), expected(call))
    return Answer(_record(call, changed), headers=etag_of(changed))


@ROUTES("POST", "/{id}/address", _ONE, beside=LETS_OUT)
async def _readdress(call: Call) -> Answer:
    """Give a publication another address."""
    changed = await readdress(call, call.path["id"])
    return Answer(_record(call, changed), headers=etag_of(changed))


ROUTES("DELETE", "/{id}", {204: None}, says="Delete one publication.", refuses=("precondition-failed",))(
    deleting(delete)
)
