"""Two pages that phones need: the places beyond the first four, and what stands in for a service without an answer."""

from __future__ import annotations

from api.dashboard.language.speaking import say
from api.dashboard.screen import Page, Screen, Visit


async def more(visit: Visit) -> Page:
    """Show the places that are not at the foot of a phone, and the way out."""
    return Page("more.html", say("More"))


async def offline(visit: Visit) -> Page:
    """Show what a browser keeps for when it gets no answer (`service-worker.js`)."""
    return Page("offline.html", say("The service can't be reached"))


SCREENS = (
    Screen(path="/more", run=more),
    Screen(path="/offline", run=offline, access="anyone"),
)
