"""Test inboxes and their captures: find, read, and check both signatures as a receiver does; their routes.

A capture is judged as of its arrival: its timestamp against that time, its signature against the secrets that were live
then. An event takes some 100 microseconds of arithmetic, and a digest may hold hundreds, so yield in between.
Strangers' requests to bins arrive in `endpoint.py`. The product makes bins too: `api/nouns/bins.py`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import trio
from msgspec import UNSET, Meta, Struct, UnsetType

from actors import signatures
from actors.destination_kinds.bins import Bins
from actors.errors import NotFound
from actors.messages.declaring import Declared, made_of, record_of
from api.fields.queries import Cursor, ListQuery
from api.nouns.bins import bins_of, every, feeding_each
from api.nouns.context import OperationContext, known_id
from api.pagination import next_page, oldest_first, place
from api.route import Answer, Call, Routes
from sanderling_client.receiver.receipt import ReceivedEvent, checked, conclude, read
from sanderling_client.verify import HEADERS, Cause, Keys, Verdict, key_set
from storage.records.bin import Bin, Capture, StoredCapture
from storage.records.destination import Destination


@record_of(Bin, "id url created_at expires_at")
class BinRecord(Declared, frozen=True, kw_only=True):
    """A bin. Anyone with its `url` can send to it, with any method and any path below it, but not read it."""

    url: str


class Checked(Struct, frozen=True, kw_only=True):
    """The verdict on a signature: `ok` is null if it was not checked; `why` is always a sentence."""

    ok: bool | None
    cause: str
    why: str


class CheckedEvent(Checked, frozen=True, kw_only=True):
    """The verdict on one event of a digest."""

    id: str | None


class CheckedEvents(Checked, frozen=True, kw_only=True):
    """The verdict on all events together: `ok` if each is. `events`: one by one."""

    events: tuple[CheckedEvent, ...]


class SignatureCheck(Struct, frozen=True, kw_only=True):
    """Both signatures, checked on arrival."""

    hmac: Checked
    ed25519: CheckedEvents


@record_of(Capture, "id received_at method path query headers body body_base64 size truncated signature_check")
class CaptureRecord(Declared, frozen=True, kw_only=True):
    """A request as received, except for the case of its header names."""

    body: str | UnsetType = UNSET
    body_base64: str | UnsetType = UNSET
    truncated: bool
    signature_check: SignatureCheck


class CapturesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of captures. It may be shorter if bodies are large."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    cursor: Cursor | None = None


_TURN = 8  # events between two checkpoints
_UNKNOWN_SENDER = "no destination of this service delivers to this bin, so the secret is not known here"
_NO_DELIVERY = "it has none of the headers of a delivery"
_NO_EVENT = "the body is neither an event nor a digest"
_CUT = "the body was cut, so nothing about its signatures can be known"


async def check_capture(capture: Capture, destinations: Sequence[Destination], keys: Keys) -> SignatureCheck:
    """Check one capture. destinations: those that deliver to its bin. Never raises."""
    if capture.truncated:
        cut = Verdict(Cause.NOT_CHECKED, _CUT)
        return SignatureCheck(hmac=Checked(**_verdict_fields(cut)), ed25519=_events((), cut))
    headers: dict[str, str] = {}
    for name, value in capture.headers:
        headers.setdefault(name, value)
    secrets = [secret for each in destinations for secret in signatures.live_secrets(each.secrets, capture.received_at)]
    contents, events = read(capture.body), list[ReceivedEvent]()
    for number, event in enumerate(contents.events):
        if number % _TURN == 0:
            await trio.lowlevel.checkpoint()
        events.append(checked(event, keys))
    receipt = conclude(contents, events, headers, capture.body, secrets=secrets, now=capture.received_at // 1000)
    hmac = receipt.webhook if secrets else Verdict(Cause.NOT_CHECKED, _UNKNOWN_SENDER)
    if not any(name in headers for name in HEADERS):
        hmac = Verdict(Cause.NOT_CHECKED, _NO_DELIVERY)
    nothing = Verdict(Cause.NOT_CHECKED, _NO_EVENT)
    return SignatureCheck(hmac=Checked(**_verdict_fields(hmac)), ed25519=_events(events, nothing))


def _verdict_fields(verdict: Verdict) -> dict[str, Any]:
    ok = verdict.valid if verdict.valid or verdict.failed else None
    return {"ok": ok, "cause": verdict.cause.value, "why": verdict.reason}


def _events(events: Sequence[ReceivedEvent], nothing: Verdict) -> CheckedEvents:
    """Return the overall verdict: the first failure, else the first verdict; `nothing` without events."""
    verdicts = [told.verdict for told in events]
    worst = next((verdict for verdict in verdicts if verdict.failed), verdicts[0] if verdicts else nothing)
    found = []
    for told in events:
        id = told.event.get("id")
        found.append(CheckedEvent(id=id[:64] if isinstance(id, str) else None, **_verdict_fields(told.verdict)))
    return CheckedEvents(events=tuple(found), **_verdict_fields(worst))


PAGE_SIZE = 1 << 20  # bytes of captures per answer; a single capture may exceed it


class CaptureView(NamedTuple):
    """A capture, its number in the bin's list, and the result of both signature checks."""

    number: int
    capture: Capture
    check: SignatureCheck


async def named(call: OperationContext, id: str) -> Bin:
    """Return the bin with an id. Raises NotFound, also if it has expired."""
    found = bins_of(call).if_alive(await call.context.storage.bins.get(known_id(id, "bin")))
    if found is None:
        raise NotFound("There is no such bin, or it has expired.")
    return found


async def delete(call: OperationContext, id: str) -> None:
    """Delete a bin and its captures. Raises NotFound."""
    await call.context.storage.bins.delete((await named(call, id)).id)


async def captures(
    call: OperationContext, bin: Bin, before: int | None, limit: int
) -> tuple[Sequence[CaptureView], bool]:
    """Return a bin's captures before a number, newest first, and whether there are more."""
    page = await call.context.storage.bins.captures(bin.id, before, limit, PAGE_SIZE)
    return await _seen(call, bin, page.captures), page.more


async def capture(call: OperationContext, bin: Bin, number: int) -> CaptureView:
    """Return one capture by its number. Raises NotFound."""
    page = await call.context.storage.bins.captures(bin.id, number + 1, 1, PAGE_SIZE)
    for seen in await _seen(call, bin, [kept for kept in page.captures if kept.number == number]):
        return seen
    raise NotFound("This capture no longer exists: a bin keeps its last hundred.")


async def _seen(call: OperationContext, bin: Bin, kept: Sequence[StoredCapture]) -> Sequence[CaptureView]:
    known, keys = (await feeding_each(call, [bin]))[0], key_set(await call.context.jwks())
    found = []
    for each in kept:
        found.append(CaptureView(each.number, each.capture, await check_capture(each.capture, known, keys)))
        await trio.lowlevel.checkpoint()
    return found


# --- routes ---------------------------------------------------------------------------------------------------------


def bin_record(bin: Bin, bins: Bins) -> BinRecord:
    return made_of(BinRecord, bin, url=bins.address(bin))


def capture_of(capture: Capture, check: SignatureCheck) -> CaptureRecord:
    """Return a capture's record, in a form that `sanderling verify` also reads."""
    body: dict[str, str | UnsetType]
    try:
        body = {"body": capture.body.decode()}
    except UnicodeDecodeError:
        body = {"body": UNSET, "body_base64": b64encode(capture.body).decode()}
    return made_of(CaptureRecord, capture, signature_check=check, **body)


ROUTES = Routes("/v1/webhook-bins", "bins")


@ROUTES("POST", "", {201: BinRecord}, refuses=("conflict",), repeatable=True)
async def _create(call: Call) -> Answer:
    """Create a bin: an address that stores requests."""
    bins = bins_of(call)
    bin = await bins.create(call.planned)
    headers = {"Location": f"{call.context.settings.public_url()}/v1/webhook-bins/{bin.id}"}
    return Answer(bin_record(bin, bins), 201, headers=headers)


@ROUTES("GET", "", {200: list[BinRecord]}, query=ListQuery)
async def _list(call: Call) -> Answer:
    """List bins, oldest first."""
    bins = bins_of(call)
    page, headers = oldest_first(call, await every(call))
    return Answer([bin_record(bin, bins) for bin in page], headers=headers)


@ROUTES("GET", "/{id}", {200: BinRecord})
async def _describe(call: Call) -> Answer:
    """Read one bin."""
    return Answer(bin_record(await named(call, call.path["id"]), bins_of(call)))


@ROUTES("DELETE", "/{id}", {204: None})
async def _delete(call: Call) -> Answer:
    """Delete one bin and its captures."""
    await delete(call, call.path["id"])
    return Answer(status=204)


@ROUTES("GET", "/{id}/captures", {200: list[CaptureRecord]}, query=CapturesQuery)
async def _captures(call: Call) -> Answer:
    """List the requests to a bin, newest first."""
    bin, query = await named(call, call.path["id"]), call.query
    page, more = await captures(call, bin, place(call, int), query.limit)
    found = [capture_of(seen.capture, seen.check) for seen in page]
    return Answer(found, headers=next_page(call, page[-1].number if more else None))
