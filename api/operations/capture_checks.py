"""Checks of a capture's signatures, as a receiver does them, with our own keys.

A capture is judged as of its arrival: its timestamp against that time, its signature against the secrets that were live
then. An event takes some 100 microseconds of arithmetic, and a digest may hold hundreds, so yield in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import trio

from actors.bins import Bins
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.signatures import webhook
from actors.signatures.event import KeySet, check
from actors.signatures.receipt import HEADERS, Receipt, ReceivedEvent, conclude, read
from actors.signatures.verdict import Cause, Verdict
from api.schemas.bins import Checked, CheckedEvent, CheckedEvents, SignatureCheck
from storage.records.bin import Bin, Capture
from storage.records.destination import Destination

MOST_SENDERS = 50
"""Destinations whose secrets are tried on one capture."""
_TURN = 8
"""Events between two checkpoints."""
_UNKNOWN_SENDER = "no destination of this service delivers to this bin, so the secret is not known here"
_NO_DELIVERY = "it has none of the headers of a delivery"
_NO_EVENT = "the body is neither an event nor a digest"
_CUT = "the body was cut, so nothing about its signatures can be known"


def senders(destinations: Sequence[Destination], bin: Bin, bins: Bins) -> Sequence[Destination]:
    """Return the newest destinations that deliver to a bin."""
    address = bins.address(bin)
    found = []
    for each in destinations:
        if bin.token in each.url and _path(each.url, bins) == _path(address, bins):
            found.append(each)
    return found[-MOST_SENDERS:]


def _path(text: str, bins: Bins) -> str:
    """Return the path of a URL's bin, without anything after its token; "" if the URL is no bin."""
    try:
        path = bins.path_in(parse_url(text)) or ""
    except UrlRefused:
        return ""
    return "/".join(path.partition("?")[0].split("/")[:3])


async def check_capture(capture: Capture, destinations: Sequence[Destination], keys: KeySet) -> SignatureCheck:
    """Check one capture. destinations: those that deliver to its bin. Never raises."""
    if capture.truncated:
        cut = Verdict(Cause.NOT_CHECKED, _CUT)
        return SignatureCheck(hmac=_checked(cut), ed25519=_events((), cut))
    headers: dict[str, str] = {}
    for name, value in capture.headers:
        headers.setdefault(name, value)
    secrets = [secret for each in destinations for secret in webhook.live(each.secrets, capture.received_at)]
    contents, events = read(capture.body), list[ReceivedEvent]()
    for number, event in enumerate(contents.events):
        if number % _TURN == 0:
            await trio.lowlevel.checkpoint()
        events.append(ReceivedEvent(event, check(event, keys)))
    receipt = conclude(contents, tuple(events), headers, capture.body, secrets=secrets, now=capture.received_at // 1000)
    nothing = Verdict(Cause.NOT_CHECKED, _NO_EVENT)
    return SignatureCheck(hmac=_checked(_hmac(receipt, headers, known=bool(secrets))), ed25519=_events(events, nothing))


def _hmac(receipt: Receipt, headers: Mapping[str, str], *, known: bool) -> Verdict:
    if not any(name in headers for name in HEADERS):
        return Verdict(Cause.NOT_CHECKED, _NO_DELIVERY)
    return receipt.webhook if known else Verdict(Cause.NOT_CHECKED, _UNKNOWN_SENDER)


def _checked(verdict: Verdict) -> Checked:
    return Checked(ok=_ok(verdict), cause=verdict.cause.value, why=verdict.reason)


def _ok(verdict: Verdict) -> bool | None:
    return verdict.valid if verdict.valid or verdict.failed else None


def _events(events: Sequence[ReceivedEvent], nothing: Verdict) -> CheckedEvents:
    """Return the overall verdict: the first failure, else the first verdict; `nothing` without events."""
    verdicts = [told.verdict for told in events]
    worst = next((verdict for verdict in verdicts if verdict.failed), verdicts[0] if verdicts else nothing)
    each = tuple(
        CheckedEvent(id=_id(told), ok=_ok(told.verdict), cause=told.verdict.cause.value, why=told.verdict.reason)
        for told in events
    )
    return CheckedEvents(ok=_ok(worst), cause=worst.cause.value, why=worst.reason, events=each)


def _id(told: ReceivedEvent) -> str | None:
    id = told.event.get("id")
    return id[:64] if isinstance(id, str) else None
