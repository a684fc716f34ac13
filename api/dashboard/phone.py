"""Two pages for phones: the places beyond the first four, and the page shown while offline."""

from __future__ import annotations

from api.dashboard.language.speaking import say
from api.dashboard.screen import Page, Screen, Visit


async def more(visit: Visit) -> Page:
    """Show the places that are missing from the phone's navigation, and the sign-out."""
    return Page("more.html", say("More"))


async def offline(visit: Visit) -> Page:
    """Show the page that browsers cache for when they are offline (`service-worker.js`)."""
    return Page("offline.html", say("The service can't be reached"))


SCREENS = (
    Screen(path="/more", run=more),
    Screen(path="/offline", run=offline, access="anyone"),
)
