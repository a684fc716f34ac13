"""All publications, oldest first, with their addresses."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from api.dashboard.language.speaking import say
from api.dashboard.publications.words import about
from api.dashboard.screen import Page, Visit
from api.operations import publications as acts
from storage.records.publication import Publication

PAGE = 25


class PublicationsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The page number, from 1."""

    page: Annotated[int, Meta(ge=1, le=1000)] = 1


class Row(NamedTuple):
    """A row of the list. about: a description. url: None if its token is lost."""

    publication: Publication
    about: str
    url: str | None


async def show_all(visit: Visit) -> Page:
    every = await acts.every(visit)
    start = (visit.query.page - 1) * PAGE
    rows = [Row(each, await about(visit, each), acts.address(visit, each)) for each in every[start : start + PAGE]]
    following = f"/publications?page={visit.query.page + 1}" if start + PAGE < len(every) else ""
    before = f"/publications?page={visit.query.page - 1}" if start else ""
    shows = {"rows": rows, "count": len(every), "next": following, "previous": before}
    return Page("publications/list.html", say("Publications"), shows)
