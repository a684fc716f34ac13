"""Choosing the watched part of a page: its blocks as text, and the effect of pressing one.

It is a step next to the preview while adding, and an action on a source's page. The page is never shown as HTML, and
none of it runs: the choices are the texts that a check would read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from actors.errors import DomainError, Stale
from actors.messages import requests as ask
from actors.messages.requests import DetectRequest, SourcePatch
from actors.previews import ActName, PickCell, Picked, PickPage, PickWish, Press, ReachName
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.speaking import noted, say
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sources import words
from api.dashboard.sources.add import PATH as ADDING
from api.dashboard.sources.add import Look, again, blamed, lines_of, look
from api.dashboard.sources.inherited import inherited_part
from api.dashboard.sources.one import show
from api.dashboard.sources.options import own_of, tags_of
from api.operations import picks, sources
from api.problems import Refusal
from storage.records.revision import revision_of
from storage.records.source import Source
from storage.records.times import rfc3339

PATH: Final = "/sources/{id}/pick"
FROM_URL: Final = "/sources/pick"
REACHES: Final[Mapping[ReachName, str]] = {
    "this": noted("This block alone"),
    "like": noted("All that are like it"),
    "part": noted("The part that it stands in"),
}
SUBJECTS: Final[Mapping[str, str]] = {
    "price": noted("price"),
    "number": noted("number"),
    "percent": noted("share"),
    "date": noted("date"),
    "version": noted("version"),
    "availability": noted("availability"),
}
_BLOCK: Final = re.compile(r"(\d{1,6})-([0-9a-f]{1,16})(?:-(\d{1,4}))?")
_Button = Annotated[str, Meta(max_length=24)]
_Lines = Annotated[str, Meta(max_length=60_000)]


class Pressing(Struct, frozen=True, forbid_unknown_fields=True):
    """The names of the page's buttons and fields after "pick.". Each button holds a block, such as `7-d54adf93`, and
    its name is the action. links: follow the block's list.
    """

    only: _Button = ""
    also: _Button = ""
    without: _Button = ""
    links: _Button = ""
    price: _Button = ""
    reach: ReachName | None = None
    first: Annotated[int, Meta(ge=0, le=100_000)] = 0
    find: Annotated[str, Meta(max_length=200)] = ""
    digest: Annotated[str, Meta(max_length=32)] = ""


class UrlPicking(Look, frozen=True, kw_only=True):
    """The settings of a URL as typed next to its preview, and the pressed button."""

    pick: dict[str, str] = {}  # noqa: RUF012  a default of a struct, which copies it


class SourcePicking(Form, frozen=True, kw_only=True):
    """The choice so far for a source, from the revision that was shown, and the pressed button."""

    selector: ask.Selector | None = None
    ignore: _Lines = ""
    follow: bool = False
    revision: str = ""
    pick: dict[str, str] = {}  # noqa: RUF012  as above


class Where(NamedTuple):
    """The links of a choice's pages: `here` shows more of it, `done` accepts it. carried: hidden fields."""

    here: str
    done: str
    verb: str
    back: str
    name: str
    carried: Mapping[str, str]


def pressing_of(pick: Mapping[str, str]) -> Pressing:
    """Return the pressed button. Raises Wrong for an unknown one."""
    try:
        return msgspec.convert(dict(pick), Pressing, strict=False)
    except msgspec.ValidationError:
        raise Wrong(say("The form was not as it was sent to you. Open the page anew.")) from None


def press_of(pressed: Pressing) -> Press | None:
    """Return the pressed block; None to just show the page. Raises Wrong."""
    acts: dict[str, ActName] = {"only": "only", "also": "also", "without": "without", "links": "only", "price": "only"}
    for name, act in acts.items():
        if written := getattr(pressed, name):
            block = _BLOCK.fullmatch(written)
            if block is None:
                raise Wrong(say("The form was not as it was sent to you. Open the page anew."))
            reach: ReachName = "part" if name == "links" else "this"
            return Press(int(block[1]), block[2], act, pressed.reach or reach, int(block[3] or 0))
    return None


def wish_of(selector: str | None, ignore: str, pressed: Pressing) -> PickWish:
    """Return the request for the page's blocks. Raises Wrong."""
    return PickWish(selector, selectors_in(ignore), pressed.first, pressed.find, press_of(pressed))


def selectors_in(text: str) -> tuple[str, ...]:
    """Return the selectors in a text, one per line."""
    return tuple(line for each in text.split("\n") if (line := each.strip()))


async def of_url(visit: Visit) -> Page:
    """Show the blocks of a URL that is about to be added."""
    form: UrlPicking = visit.form
    urls = lines_of(form.urls)
    if len(urls) != 1:
        raise Wrong(urls=say("Here one URL is added. Look at several first."))
    pressed = pressing_of(form.pick)
    try:
        picked = await sources.pick_from_url(
            visit, request_of(form, urls[0]), wish_of(form.selector, form.ignore, pressed)
        )
    except (Refusal, DomainError) as error:
        raise blamed(error) from None
    return shown(visit, picked, pressed, where_at_adding(form, urls[0]), form)


def request_of(form: Look, url: str) -> DetectRequest:
    look = (form.headers, form.render or "auto", form.wait_for, tags_of(form), own_of(form))
    return DetectRequest(url, "html", None, (), None, *look)


def where_at_adding(form: UrlPicking, url: str) -> Where:
    """Return the links for a choice before a URL is added: back to its preview, with all fields."""
    unsaid = ("selector", "ignore", "pick", "follow")
    values = {name: getattr(form, name) for name in form.__struct_fields__ if name not in unsaid}
    typed = {name: _typed(value) for name, value in values.items() if value not in (None, "", False)}
    return Where(FROM_URL, f"{FROM_URL}/use", say("Use this"), ADDING, url, typed)


def _typed(value: Any) -> str:
    return "true" if value is True else str(value)


async def use(visit: Visit) -> Page:
    """Return to the preview of a URL with the choice."""
    form: UrlPicking = visit.form
    visit.form = Look(**{name: getattr(form, name) for name in Look.__struct_fields__})
    return await look(visit)


async def of_source(visit: Visit) -> Page:
    """Show the blocks of a watched page and its current choice."""
    source = (await sources.view(visit, visit.path["id"])).source
    form = SourcePicking(
        selector=source.selector,
        ignore="\n".join(source.ignore),
        follow=source.follow != "none",
        revision=revision_of(source),
    )
    return await _of_source(visit, source, form)


async def press(visit: Visit) -> Page:
    """Show the effect of pressing a block of a watched page, or other blocks."""
    return await _of_source(visit, (await sources.view(visit, visit.path["id"])).source, visit.form)


async def _of_source(visit: Visit, source: Source, form: SourcePicking) -> Page:
    pressed = pressing_of(form.pick)
    try:
        picked = await picks.of_source(visit, source, wish_of(form.selector, form.ignore, pressed))
    except (Refusal, DomainError) as error:
        return unreached(source, error)
    return shown(visit, picked, pressed, where_of(source, form.revision), form, source=source)


def where_of(source: Source, revision: str) -> Where:
    """Return the links for a choice on an existing source."""
    here = f"/sources/{source.id}/pick"
    back = f"/sources/{source.id}"
    return Where(here, f"{here}/save", say("Save"), back, words.name_of(source), {"revision": revision})


def unreached(source: Source, error: Refusal | DomainError) -> Page:
    """Show why the page's blocks are unavailable."""
    says = next(iter(blamed(error).errors.values()), "")
    shows = {"id": source.id, "name": words.name_of(source), "says": says}
    return Page("sources/pick_unreached.html", say("Choose what is watched"), shows)


def shown(
    visit: Visit,
    picked: Picked,
    pressed: Pressing,
    where: Where,
    form: UrlPicking | SourcePicking,
    *,
    source: Source | None = None,
    moved: bool = False,
) -> Page:
    """Return the page of blocks, or the effect of the pressed one. moved: the page has changed in the meantime."""
    page, own = picked.page, _chosen_of(picked.page)
    inherited = dict(picked.inherited)
    takes_over = own is not None and inherited.pop("selector", None) is not None
    shows = {
        "where": where,
        "page": page,
        "at": rfc3339(picked.fetched_at),
        "selector": form.selector or "",
        "ignore": form.ignore,
        "follow": form.follow or bool(pressed.links),
        "pressed": pressed,
        "cell": _cell(page, press_of(pressed)),
        "act": next((name for name in ("only", "also", "without", "links") if getattr(pressed, name)), ""),
        "reaches": {name: say(text) for name, text in REACHES.items()},
        "inherited": inherited_part(picked.selector, picked.ignore, inherited),
        "takes_over": takes_over,
        "joins": bool(form.selector or picked.selector),
        "changed": source is None or (form.selector, selectors_in(form.ignore)) != (source.selector, source.ignore),
        "subjects": {name: say(text) for name, text in SUBJECTS.items()},
        "moved": moved,
        "amount": _amount(page),
        "labels": {"price.amount": say("This amount")},
    }
    if page.choice is None:
        return Page("sources/pick.html", say("Choose what is watched"), shows)
    if pressed.price:
        return Page("sources/price.html", say("When the price changes"), shows)
    return Page("sources/picked.html", say("What would be watched"), shows)


def _chosen_of(page: PickPage) -> str | None:
    """Return the selector that the choice would set on the source, or None."""
    return None if page.choice is None or page.choice.kept is None else page.choice.kept.selector


def _cell(page: PickPage, press: Press | None) -> PickCell | None:
    """Return the pressed cell, or None for a whole block."""
    if page.choice is None or press is None:
        return None
    return next((cell for cell in page.choice.block.cells if cell.number == press.cell), None)


def _amount(page: PickPage) -> str:
    """Return the pressed block's first value as an editable number, or "" without one."""
    found = page.choice.block.values[:1] if page.choice is not None else ()
    if not found:
        return ""
    value = found[0].value
    return plain_number(value.number, value.scale) if isinstance(value.number, int) else value.value


def plain_number(number: int, scale: int) -> str:
    """Return a number without separators, with a decimal point.

    >>> plain_number(109950, 2), plain_number(7, 0)
    ('1099.50', '7')
    """
    return f"{Decimal(number).scaleb(-scale):f}"


async def save(visit: Visit) -> Page | Go:
    """Save the choice. If the page's matching text has changed since, show it again first."""
    form: SourcePicking = visit.form
    source = (await sources.view(visit, visit.path["id"])).source
    pressed = pressing_of(form.pick)
    picked = await now_of(visit, source, form)
    if picked is not None:
        now = picked.page.now
        if now is None or now.digest != pressed.digest:
            return shown(visit, picked, Pressing(), where_of(source, form.revision), form, source=source, moved=True)
    patch = SourcePatch(selector=form.selector, ignore=selectors_in(form.ignore))
    if form.follow != (source.follow != "none"):
        patch = replace(patch, follow="new_links" if form.follow else "none")
    await changed(visit, source, patch, form.revision)
    says = say("Saved. Another part of the page begins with a new first look: what is there then is not told.")
    return Go(f"/sources/{source.id}", says)


async def now_of(visit: Visit, source: Source, form: SourcePicking) -> Picked | None:
    """Return the text that a choice matches on the page now, or None if unknown, which does not prevent saving.

    The user saw it a moment ago, and saving checks its selectors.
    """
    try:
        return await sources.pick_from_source(visit, source.id, PickWish(form.selector, selectors_in(form.ignore)))
    except (Refusal, DomainError):
        return None


async def changed(visit: Visit, source: Source, patch: SourcePatch, revision: str) -> None:
    """Change a source from the revision that was shown. Raises Wrong if it has changed since."""
    try:
        await sources.change(visit, source.id, patch, frozenset((revision,)))
    except Stale:
        says = say("The source has been changed in another place since you opened this form. Open it anew.")
        raise Wrong(says) from None


SCREENS = (
    Screen(method="POST", path=FROM_URL, run=of_url, form=UrlPicking, again=again),
    Screen(method="POST", path=f"{FROM_URL}/use", run=use, form=UrlPicking, again=again),
    Screen(path=PATH, run=of_source),
    Screen(method="POST", path=PATH, run=press, form=SourcePicking, again=show),
    Screen(method="POST", path=f"{PATH}/save", run=save, form=SourcePicking, again=show),
)
