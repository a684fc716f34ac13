"""Deleted sources: list and restore them while they rest; undo other changes."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from api.dashboard.forms import Form
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import noted, say, say_many
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sessions import own_path
from api.dashboard.sources import words
from api.operations import sources
from api.operations.batches import Failed
from storage.records.source import RESTS

PATH: Final = "/sources/deleted"
MOST: Final = 200
"""Deleted sources to list."""
RESTING: Final = noted("It can be had back for %(count)s minutes.")
MINUTES: Final = RESTS // 60_000


class Restoration(Form, frozen=True):
    """The deleted sources to restore."""

    source: Annotated[tuple[str, ...], Meta(max_length=MOST)] = ()


class Undoing(Form, frozen=True):
    """The key of a change to undo."""

    key: Annotated[str, Meta(max_length=20)]
    back: str = "/sources"


async def show(visit: Visit) -> Page:
    """List the deleted sources, the newest first."""
    found = await sources.deleted(visit, MOST)
    lines = [(one.id, words.name_of(one), one.url, one.deleted_at, (one.deleted_at or 0) + RESTS) for one in found]
    return Page("sources/deleted.html", say("Deleted sources"), {"lines": lines, "minutes": RESTS // 60_000})


async def restore(visit: Visit) -> Go:
    form: Restoration = visit.form
    ids = tuple(dict.fromkeys(form.source))
    if not ids:
        return Go(PATH, say("Nothing was done: no source is ticked."), bad=True)
    return await _took_back(visit, ids, "restore", PATH)


async def undo(visit: Visit) -> Go:
    form: Undoing = visit.form
    change = visit.undos.take(visit.who, form.key, visit.now)
    if change is None:
        return Go(
            PATH, say("That can't be taken back any more. What was deleted a short while ago is listed here."), bad=True
        )
    return await _took_back(visit, change.ids, change.act, own_path(form.back))


async def _took_back(visit: Visit, ids: tuple[str, ...], act: str, back: str) -> Go:
    do, done = (sources.restore, say("back")) if act == "restore" else (sources.resume, say("resumed"))
    outcomes = await sources.each(visit, ids, do)
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    says = say_many("%(count)s source %(done)s.", "%(count)s sources %(done)s.", len(outcomes) - len(failed), done=done)
    if failed:
        reason = translated(words.sentence(failed[0].refusal.detail))
        says += " " + say("%(count)s not: %(reason)s", count=len(failed), reason=reason)
    return Go(back, says, bad=bool(failed))


SCREENS = (
    Screen(path=PATH, run=show),
    Screen(method="POST", path=f"{PATH}/restore", run=restore, form=Restoration, again=show),
    Screen(method="POST", path="/sources/undo", run=undo, form=Undoing, again=show),
)
