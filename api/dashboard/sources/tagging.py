"""All tags with how many sources have each, and a tag under another name."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from actors.errors import Unprocessable
from api.dashboard.amounts import counted
from api.dashboard.forms import Form, Wrong
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sources import words
from api.dashboard.sources.folders import folders
from api.operations import renaming, sources

PATH: Final = "/sources/tags"
MOST: Final = 1_000
_Tag = Annotated[str, Meta(max_length=200)]


class Renaming(Form, frozen=True):
    """A tag, and its new name."""

    tag: _Tag
    name: _Tag


async def show(visit: Visit) -> Page:
    """List the tags."""
    found = folders(await sources.tags(visit))
    tags = [(one, one.tag.removesuffix("/*")) for one in found if not one.tag.endswith(":*")]
    return Page("sources/tags.html", "Tags", {"tags": tags[:MOST], "more": len(tags) - MOST})


async def rename(visit: Visit) -> Go:
    form: Renaming = visit.form
    try:
        done = await renaming.rename(visit, form.tag, form.name)
    except Unprocessable as error:
        raise Wrong(name=words.sentence(str(error).rpartition(": ")[2])) from None
    parts = [counted(done.sources, "source"), counted(done.alerts, "alert"), counted(done.publications, "publication")]
    says = f"“{form.tag}” is “{form.name}” now, in {', '.join(parts[:2])} and {parts[2]}."
    if done.failed:
        says += f" {len(done.failed)} not: {words.sentence(done.failed[0].refusal.detail)}"
    if done.more:
        says += " There are more sources: rename it again."
    return Go(PATH, says, bad=bool(done.failed) or done.more)


SCREENS = (
    Screen(path=PATH, run=show),
    Screen(method="POST", path=PATH, run=rename, form=Renaming, again=show),
)
