"""One capture: headers in order, the body as text, the verdicts on both signatures, and the request as a command."""

from __future__ import annotations

from actors.errors import NotFound
from api.dashboard.bins.words import badge, behind, curl, shown
from api.dashboard.language.speaking import say
from api.dashboard.screen import Download, Page, Visit
from api.operations import bins as acts
from api.operations.bins import Seen
from storage.records.bin import Bin


async def show(visit: Visit) -> Page:
    bin, seen = await _found(visit)
    capture, address = seen.capture, acts.bins_of(visit).address(bin)
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
            "body": shown(capture),
            "curl": curl(address, capture),
        },
    )


async def download(visit: Visit) -> Download:
    _bin, seen = await _found(visit)
    return Download(f"capture-{seen.number}.bin", seen.capture.body)


async def _found(visit: Visit) -> tuple[Bin, Seen]:
    bin, text = await acts.named(visit, visit.path["id"]), visit.path["number"]
    if not text.isdecimal() or len(text) > 15:
        raise NotFound(say("There is no such capture."))
    return bin, await acts.capture(visit, bin, int(text))
