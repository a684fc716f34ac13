"""Test inboxes: the list, one with its captures, one capture with the verdicts on both signatures.

A capture is shown only as text; its raw body is a download.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from shlex import quote
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from actors.errors import NotFound
from actors.language.sentences import translated
from actors.language.speaking import say, say_many
from api.dashboard.forms import Confirm, Form
from api.dashboard.lists import PageQuery, numbered
from api.dashboard.notifying.destinations import MOST_BODY, shown_body
from api.dashboard.screen import Download, Go, Page, Reply, Screen, Secret, Visit, post
from api.dashboard.starting import MODE_WORDS
from api.fields.destinations import NewDestination
from api.nouns import alerts, destinations
from api.nouns.bins import bins_of, every, feeding_each
from extras.inbox import operations as acts
from extras.inbox.operations import CaptureView, Checked
from storage.records.bin import Bin, Capture

_HOPS = frozenset(("host", "content-length", "connection", "transfer-encoding", "accept-encoding", "expect"))
"""Connection headers; curl makes its own."""
_NONE = frozenset(("not_checked", "no_signature"))


class Badge(NamedTuple):
    """A word and its mood, as `ui.badge` takes them, and the reason as a sentence."""

    words: str
    mood: str
    why: str


def badge(check: Checked) -> Badge:
    if check.ok:
        return Badge(say("verified"), "good", check.why)
    if check.ok is None:
        return Badge(say("not checked"), "calm", check.why)
    return Badge(say("no signature") if check.cause in _NONE else say("invalid"), "bad", check.why)


class _Titled(msgspec.Struct):
    title: str = ""
    count: int = 0


_titled = msgspec.json.Decoder(_Titled).decode


def title(capture: Capture) -> str:
    """Return the title of a capture's event, or the size of its digest; "" for anything else.

    >>> from storage.records.identity import Millis
    >>> of = lambda body: Capture("1", Millis(0), "POST", "/bins/x", "", (), body, len(body))
    >>> title(of(b'{"title": "It costs 29"}')), title(of(b'{"count": 3}')), title(of(b"hello"))
    ('It costs 29', '3 events', '')
    """
    try:
        found = _titled(capture.body)
    except (msgspec.DecodeError, UnicodeError):
        return ""
    return found.title or (say_many("%(count)s event", "%(count)s events", found.count) if found.count else "")


def behind(capture: Capture) -> str:
    path = "/".join(capture.path.split("/")[3:])
    return (f"/{path}" if path else "") + (f"?{capture.query}" if capture.query else "")


def curl(address: str, capture: Capture) -> str:
    """Return the command that repeats a capture, or "" if its body is too long.

    >>> from storage.records.identity import Millis
    >>> one = Capture("1", Millis(0), "POST", "/bins/x/in", "a=1", (("host", "h"), ("x-note", "it's")), b"hi", 2)
    >>> print(curl("https://h/bins/x", one))
    curl -X POST 'https://h/bins/x/in?a=1' \\
      -H 'x-note: it'"'"'s' \\
      --data-binary hi
    """
    if capture.truncated or len(capture.body) > MOST_BODY:
        return ""
    lines = [f"curl -X {quote(capture.method)} {quote(address + behind(capture))}"]
    lines += [f"-H {quote(f'{name}: {value}')}" for name, value in capture.headers if name not in _HOPS]
    try:
        body = capture.body.decode()
    except UnicodeDecodeError:
        lines.append("--data-binary @-")
        return f"printf %s {quote(b64encode(capture.body).decode())} | base64 -d | " + _joined(lines)
    return _joined([*lines, f"--data-binary {quote(body)}"] if body else lines)


def _joined(lines: Sequence[str]) -> str:
    return " \\\n  ".join(lines)


PAGE = 25


async def show_all(visit: Visit) -> Page:
    shown, pager = numbered(list(reversed(await every(visit))), visit.query.page, PAGE, "/webhook-bins")
    rows = []
    for bin, senders in zip(shown, await feeding_each(visit, shown), strict=True):
        newest = (await visit.context.storage.bins.captures(bin.id, None, 1, 1)).captures
        last = newest[0].capture.received_at if newest else None
        senders_called = [each.label for each in senders]
        rows.append({"bin": bin, "address": bins_of(visit).address(bin), "last": last, "senders": senders_called})
    return Page("bins/list.html", say("Test inboxes"), {"rows": rows, **pager})


async def mint(visit: Visit) -> Reply:
    bin = await bins_of(visit).create()
    return Go(f"/webhook-bins/{bin.id}", say("Test inbox created. It expires after seven days."))


CAPTURES = 20
MOST_ALERTS = 500


class CapturesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The start of the page: captures before this number."""

    before: Annotated[int, Meta(ge=1)] | None = None


class Attach(Form, frozen=True):
    """The alert whose matches go to the bin."""

    alert: str


async def show(visit: Visit) -> Page:
    bin = await acts.named(visit, visit.path["id"])
    seen, more = await acts.captures(visit, bin, visit.query.before, CAPTURES)
    rows = [
        (each, title(each.capture), behind(each.capture)[:80], badge(each.check.hmac), badge(each.check.ed25519))
        for each in seen
    ]
    names = {alert.id: alert.name for alert in await visit.context.storage.alerts.all()}
    feeding = (await feeding_each(visit, [bin]))[0]
    here = {each.alert_id for each in feeding}
    return Page(
        "bins/one.html",
        say("Test inbox"),
        {
            "bin": bin,
            "address": bins_of(visit).address(bin),
            "rows": rows,
            "modes": MODE_WORDS,
            "older": f"/webhook-bins/{bin.id}?before={seen[-1].number}" if more else "",
            "newest": "" if visit.query.before is None else f"/webhook-bins/{bin.id}",
            "feeding": [(each, names.get(each.alert_id, "")) for each in feeding],
            "alerts": [(id, name) for id, name in names.items() if id not in here][:MOST_ALERTS],
        },
    )


async def attach(visit: Visit) -> Reply:
    bin = await acts.named(visit, visit.path["id"])
    new = NewDestination(url=bins_of(visit).address(bin), label="test inbox")
    made = await destinations.add(visit, visit.form.alert, new)
    name = (await alerts.named(visit, visit.form.alert)).name
    says = say("The test inbox verifies deliveries with it; your own receiver would need it.")
    secret = Secret(say("Signing secret"), made.secret, says)
    return Go(_path(bin), say("The matches of %(name)s now go to this inbox.", name=name), secret=secret)


async def test(visit: Visit) -> Reply:
    bin = await acts.named(visit, visit.path["id"])
    feeding = (await feeding_each(visit, [bin]))[0]
    if not feeding:
        raise NotFound(say("No destination delivers to this inbox yet."))
    found = await destinations.test(visit, feeding[-1].id)
    if found.result == "sent":
        return Go(_path(bin), say("A sample was delivered in %(count)s ms.", count=found.latency_ms))
    says = say("The sample was not delivered: %(reason)s", reason=translated(found.detail or ""))
    return Go(_path(bin), says, bad=True)


async def delete(visit: Visit) -> Reply:
    visit.form.check_deletion()
    await acts.delete(visit, visit.path["id"])
    return Go("/webhook-bins", say("The inbox and its requests are deleted."))


def _path(bin: Bin) -> str:
    return f"/webhook-bins/{bin.id}"


async def show_capture(visit: Visit) -> Page:
    bin, seen = await _found(visit)
    capture, address = seen.capture, bins_of(visit).address(bin)
    return Page(
        "bins/capture.html",
        say("A capture"),
        {
            "bin": bin,
            "number": seen.number,
            "capture": capture,
            "behind": behind(capture),
            "hmac": badge(seen.check.hmac),
            "ed25519": badge(seen.check.ed25519),
            "events": [(each.id, badge(each)) for each in seen.check.ed25519.events],
            "body": shown_body(capture),
            "curl": curl(address, capture),
        },
    )


async def download(visit: Visit) -> Download:
    _bin, seen = await _found(visit)
    return Download(f"capture-{seen.number}.bin", seen.capture.body)


async def _found(visit: Visit) -> tuple[Bin, CaptureView]:
    bin, text = await acts.named(visit, visit.path["id"]), visit.path["number"]
    if not text.isdecimal() or len(text) > 15:
        raise NotFound(say("There is no such capture."))
    return bin, await acts.capture(visit, bin, int(text))


_ONE = "/webhook-bins/{id}"
SCREENS: tuple[Screen, ...] = (
    Screen(path="/webhook-bins", run=show_all, query=PageQuery),
    post("/webhook-bins", mint, Form, show_all),
    Screen(path=_ONE, run=show, query=CapturesQuery),
    post(f"{_ONE}/attach", attach, Attach, show),
    post(f"{_ONE}/test", test, Form, show),
    post(f"{_ONE}/delete", delete, Confirm, show),
    Screen(path=f"{_ONE}/captures/{{number}}", run=show_capture),
    Screen(path=f"{_ONE}/captures/{{number}}/body", run=download),
)
