"""All tags with their source counts, and renaming a tag."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from actors.errors import Unprocessable
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import say, say_many
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sources import words
from api.dashboard.sources.folders import Folder, folders
from api.operations import sources, tag_defaults

PATH: Final = "/sources/tags"
MOST: Final = 1_000
_Tag = Annotated[str, Meta(max_length=200)]


class Renaming(Form, frozen=True):
    """A tag, and its new name."""

    tag: _Tag
    name: _Tag


async def show(visit: Visit) -> Page:
    found = folders(await sources.tags(visit))
    tags = [(one, one.tag.removesuffix("/*")) for one in found if not one.tag.endswith(":*")]
    kept = {one.tag.removeprefix("label:") for one in await visit.context.storage.tag_defaults.all()}
    tags += [(Folder(tag, tag, 0, 0), tag) for tag in sorted(kept - {tag for _, tag in tags})]  # outlive their sources
    shows = {"tags": tags[:MOST], "more": len(tags) - MOST, "with_defaults": kept}
    return Page("sources/tags.html", say("Tags"), shows)


async def rename(visit: Visit) -> Go:
    form: Renaming = visit.form
    try:
        done = await tag_defaults.rename(visit, form.tag, form.name)
    except Unprocessable as error:
        raise Wrong(name=translated(words.sentence(str(error).rpartition(": ")[2]))) from None
    says = say(
        "“%(tag)s” is “%(name)s” now, in %(sources)s, %(alerts)s and %(publications)s.",
        tag=form.tag,
        name=form.name,
        sources=say_many("%(count)s source", "%(count)s sources", done.sources),
        alerts=say_many("%(count)s alert", "%(count)s alerts", done.alerts),
        publications=say_many("%(count)s publication", "%(count)s publications", done.publications),
    )
    if done.failed:
        reason = translated(words.sentence(done.failed[0].refusal.detail))
        says += " " + say("%(count)s not: %(reason)s", count=len(done.failed), reason=reason)
    if done.more:
        says += " " + say("There are more sources: rename it again.")
    return Go(PATH, says, bad=bool(done.failed) or done.more)


SCREENS = (
    Screen(path=PATH, run=show),
    Screen(method="POST", path=PATH, run=rename, form=Renaming, again=show),
)
