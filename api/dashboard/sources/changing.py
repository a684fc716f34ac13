"""The actions on one source: check now, pause, resume, edit with a try-out of selectors, delete."""

from __future__ import annotations

from typing import Final, get_args

import trio

from actors.errors import DomainError, Stale
from actors.messages.requests import SourcePatch
from actors.messages.views import SourceView
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import noted, number, say
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sources import words
from api.dashboard.sources.deleted import MINUTES, RESTING
from api.dashboard.sources.inherited import inherited
from api.dashboard.sources.one import PATH, show
from api.dashboard.sources.options import Options, ignore_of, settings_in, shown_of
from api.dashboard.undoing import Undo
from api.operations import sources
from api.problems import Refusal
from api.refusals import refusal_of
from api.schemas.previews import Preview, PreviewRequest
from api.v1.previews import preview_of
from storage.records import trail
from storage.records.revision import revision_of
from storage.records.source import Source
from storage.records.states import LOOKS as LOOK_STATES
from storage.records.tiers import Setting
from storage.records.trail import Verdict

PATIENCE: Final = 8.0
"""Seconds to wait for the requested check."""
_GLANCE: Final = 0.2
CONFIRM: Final = noted("delete")


class Deletion(Form, frozen=True):
    """Deletes a source if `confirm` matches."""

    confirm: str = ""


class Edit(Options, frozen=True, kw_only=True):
    """A source's settings, from the revision that was shown. Empty `hello` and `headers` keep the stored values unless
    the form removes them.
    """

    forget_hello: bool = False
    forget_headers: bool = False
    revision: str = ""


async def check(visit: Visit) -> Go:
    """Check now, and report the result if it comes soon."""
    id = visit.path["id"]
    there, before = f"/sources/{sources.known(id)}", await sources.view(visit, id)
    try:
        await sources.check(visit, id)
    except (Refusal, DomainError) as error:
        refusal = refusal_of(error, owner=True)
        return Go(there, translated(words.sentence(refusal.detail if refusal is not None else str(error))), bad=True)
    with trio.move_on_after(PATIENCE):
        while True:
            view = await sources.view(visit, id)
            if view.hot.looks > before.hot.looks:
                says, bad = came_of_it(view)
                return Go(there, says, bad=bad)
            await trio.sleep(_GLANCE)
    says = say("The look is asked for, and waits for its host's turn. It shows here when it has come.")
    return Go(there, says)


def came_of_it(view: SourceView) -> tuple[str, bool]:
    """Return the newest check's result, and whether it is bad."""
    rows = trail.read(view.hot.trail)
    if not rows:
        return say("Looked at."), False
    row = rows[-1]
    if row.verdict >= Verdict.REMOTE_TRANSIENT:
        says = say("Looked at just now: %(state)s.", state=say(LOOK_STATES[row.verdict].word))
        return f"{says} {translated(view.hot.last_error or '')}".strip(), True
    news = {Verdict.CHANGED: say("there is news"), Verdict.UNCHANGED: say("nothing has changed")}
    state = news.get(row.verdict, say("it has changed, and nothing of that is worth telling"))
    says = say("Looked at just now: %(state)s.", state=state)
    return f"{says} ({row.status or say('no status')}, {number(row.ms)} ms)", False


async def pause(visit: Visit) -> Go:
    id = await sources.pause(visit, visit.path["id"])
    undo = Undo("resume", (id,)) if id else None
    return Go(
        f"/sources/{sources.known(visit.path['id'])}",
        say("Paused. It is not looked at until you resume it."),
        undo=undo,
    )


async def resume(visit: Visit) -> Go:
    view = await sources.change(visit, visit.path["id"], SourcePatch(enabled=True))
    return Go(f"/sources/{view.source.id}", say("It is watched again."))


async def delete(visit: Visit) -> Go:
    form: Deletion = visit.form
    view = await sources.view(visit, visit.path["id"])
    if form.confirm not in (CONFIRM, say(CONFIRM)):
        raise Wrong(confirm=say("Type “%(word)s”.", word=say(CONFIRM)))
    await sources.delete(visit, visit.path["id"])
    resting = say(RESTING, count=MINUTES)
    name = words.name_of(view.source)
    says = say("Deleted: %(name)s. Its past events stay until retention takes them.", name=name) + f" {resting}"
    return Go("/sources", says, undo=Undo("restore", (view.source.id,)))


async def edit(visit: Visit) -> Page:
    view = await sources.view(visit, visit.path["id"])
    return _page(view, of(view.source))


def _page(view: SourceView, form: Edit, preview: Preview | None = None) -> Page:
    shows = {
        "source": view.source,
        "name": words.name_of(view.source),
        "form": form,
        "preview": preview,
        "has_hello": view.source.hello is not None,
        "has_headers": view.source.headers is not None,
        "noise": len(view.source.noise),
        "inherited": list(inherited(view.effective)),
    }
    return Page("sources/edit.html", say("Edit %(name)s", name=words.name_of(view.source)), shows)


def of(source: Source) -> Edit:
    return Edit(**shown_of(source), revision=revision_of(source))


async def try_out(visit: Visit) -> Page:
    """Preview the page with these selectors, without changing anything."""
    form: Edit = visit.form
    view = await sources.view(visit, visit.path["id"])
    found = await sources.preview(visit, view.source.id, PreviewRequest(form.selector, ignore_of(form)))
    return _page(view, form, preview_of(found))


async def save(visit: Visit) -> Go:
    """Change a source's settings, unless someone else changed it in the meantime."""
    form: Edit = visit.form
    view = await sources.view(visit, visit.path["id"])
    try:
        await sources.change(visit, view.source.id, patch_of(view.source, form), frozenset((form.revision,)))
    except Stale:
        says = say("The source has been changed in another place since you opened this form. Open it anew.")
        raise Wrong(says) from None
    says = say("Saved.")
    if view.source.type == "html" and (form.selector, ignore_of(form)) != (view.source.selector, view.source.ignore):
        says = say("Saved. Another part of the page begins with a new first look: what is there then is not told.")
    return Go(f"/sources/{view.source.id}", says)


def patch_of(source: Source, form: Edit) -> SourcePatch:
    """Return the form's patch, with only the settings that this kind of source has."""
    given = settings_in(form)
    forgotten = {"hello": form.forget_hello, "headers": form.forget_headers}
    given = {name: value for name, value in given.items() if value is not None or forgotten.get(name, True)}
    others = frozenset(get_args(Setting)) - source.tier.settings
    return SourcePatch(**{name: value for name, value in given.items() if name not in others})


SCREENS = (
    Screen(method="POST", path=f"{PATH}/check", run=check, form=Form, again=show),
    Screen(method="POST", path=f"{PATH}/pause", run=pause, form=Form, again=show),
    Screen(method="POST", path=f"{PATH}/resume", run=resume, form=Form, again=show),
    Screen(method="POST", path=f"{PATH}/delete", run=delete, form=Deletion, again=show),
    Screen(path=f"{PATH}/edit", run=edit),
    Screen(method="POST", path=f"{PATH}/edit", run=save, form=Edit, again=edit),
    Screen(method="POST", path=f"{PATH}/try", run=try_out, form=Edit, again=edit),
)
