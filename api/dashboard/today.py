"""Today: what needs somebody, and what changed lately."""

from __future__ import annotations

from api.dashboard.screen import Page, Screen, Visit


async def today(visit: Visit) -> Page:
    """Show what needs somebody, else that all is well."""
    troubles = [says for says in visit.doors.readiness().values() if says]
    return Page("today.html", "Today", {"troubles": troubles})


SCREENS = (Screen(path="/", run=today),)
