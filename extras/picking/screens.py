"""Choosing the watched part of a page: its blocks as text, the effect of pressing one, an alert for its price.

It is a step next to the preview while adding, and an action on a source's page. The page is never shown as HTML, and
none of it runs: the choices are the texts that a check would read.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from actors.errors import DomainError
from actors.language.speaking import noted, say
from actors.messages import requests as ask
from actors.messages.requests import NewSource, SourcePatch
from api.dashboard.forms import Draft, Form, InvalidForm, draft_of
from api.dashboard.screen import Go, Page, Screen, Visit, post
from api.dashboard.sources import display
from api.dashboard.sources.add import PATH as ADDING
from api.dashboard.sources.add import PreviewForm, again, blamed, detection_wish, look, only_url
from api.dashboard.sources.one import inherited_part, lines_in, settings_in, show
from api.nouns import sources
from api.problems import Refusal
from extras.picking import operations
from extras.picking.records import ActName, Picked, PickedValue, PickPage, PickWish, PressedBlock, ReachName
from storage.records.identity import rfc3339
from storage.records.revision import revision_of
from storage.records.source import Source

PATH: Final = "/sources/{id}/pick"
FROM_URL: Final = "/sources/pick"
REACHES: Final[Mapping[ReachName, str]] = {
    "this": noted("This block alone"),
    "like": noted("All that are like it"),
    "part": noted("The part around it"),
}
SUBJECTS: Final[Mapping[str, str]] = {
    "price": noted("price"),
    "number": noted("number"),
    "percent": noted("share"),
    "date": noted("date"),
    "version": noted("version"),
    "availability": noted("availability"),
}
_BLOCK: Final = re.compile(r"(\d{1,5})-([0-9a-f]{1,16})(?:-(\d{1,4}))?")
_Button = Annotated[str, Meta(max_length=24)]
_Lines = Annotated[str, Meta(max_length=60_000)]
S = TypeVar("S", bound=Struct)


class Pressing(Struct, frozen=True, forbid_unknown_fields=True):
    """Buttons and fields after "pick.". A button holds a block, such as `7-d54adf93`. links: follow the block's."""

    only: _Button = ""
    also: _Button = ""
    without: _Button = ""
    links: _Button = ""
    price: _Button = ""
    reach: ReachName | None = None
    first: Annotated[int, Meta(ge=0, le=100_000)] = 0
    find: Annotated[str, Meta(max_length=200)] = ""
    digest: Annotated[str, Meta(max_length=32)] = ""


class UrlPicking(PreviewForm, frozen=True, kw_only=True):
    """The settings of a URL as typed next to its preview, and the pressed button."""

    pick: dict[str, str] = {}  # noqa: RUF012  a default of a struct, which copies it


class SourcePicking(Form, frozen=True, kw_only=True):
    """The choice so far for a source, from the revision that was shown, and the pressed button."""

    selector: ask.Selector | None = None
    ignore: _Lines = ""
    follow: bool = False
    revision: str = ""
    pick: dict[str, str] = {}  # noqa: RUF012  as above


def _read(given: Mapping[str, str], kind: type[S]) -> S:
    try:
        return msgspec.convert(dict(given), kind, strict=False)
    except msgspec.ValidationError:
        raise InvalidForm(say("This form is out of date. Open the page again.")) from None


def press_of(pressed: Pressing) -> PressedBlock | None:
    """Return the pressed block; None to just show the page. Raises InvalidForm."""
    acts: dict[str, ActName] = {"only": "only", "also": "also", "without": "without", "links": "only", "price": "only"}
    for name, act in acts.items():
        if written := getattr(pressed, name):
            block = _BLOCK.fullmatch(written)
            if block is None:
                raise InvalidForm(say("This form is out of date. Open the page again."))
            reach: ReachName = "part" if name == "links" else "this"
            return PressedBlock(int(block[1]), block[2], act, pressed.reach or reach, int(block[3] or 0))
    return None


def wish_of(form: UrlPicking | SourcePicking, pressed: Pressing) -> PickWish:
    return PickWish(form.selector, lines_in(form.ignore), pressed.first, pressed.find, press_of(pressed))


async def _picked_from_url(visit: Visit, form: UrlPicking, url: str, pressed: Pressing) -> Picked:
    """Fetch a URL for its blocks. Raises InvalidForm."""
    request = detection_wish(form, url, "html", selector=None, ignore=(), filter=None)
    try:
        return await operations.of_url(visit, request, wish_of(form, pressed))
    except (Refusal, DomainError) as error:
        raise blamed(error) from None


async def of_url(visit: Visit) -> Page:
    """Show the blocks of a URL that is about to be added."""
    form: UrlPicking = visit.form
    url, pressed = only_url(form), _read(form.pick, Pressing)
    return shown(await _picked_from_url(visit, form, url, pressed), pressed, form, url)


async def use(visit: Visit) -> Page:
    """Return to the preview of a URL with the choice."""
    form: UrlPicking = visit.form
    visit.form = PreviewForm(**{name: getattr(form, name) for name in PreviewForm.__struct_fields__})
    return await look(visit)


async def of_source(visit: Visit) -> Page:
    source = (await sources.view(visit, visit.path["id"])).source
    ignore, follow = "\n".join(source.ignore), source.follow != "none"
    visit.form = SourcePicking(selector=source.selector, ignore=ignore, follow=follow, revision=revision_of(source))
    return await press(visit)


async def press(visit: Visit) -> Page:
    form: SourcePicking = visit.form
    source, pressed = (await sources.view(visit, visit.path["id"])).source, _read(form.pick, Pressing)
    try:
        return shown(await operations.of_source(visit, source.id, wish_of(form, pressed)), pressed, form, source)
    except (Refusal, DomainError) as error:
        return unreached(source, error)


def unreached(source: Source, error: Refusal | DomainError) -> Page:
    shows = {"id": source.id, "name": display.name_of(source), "says": next(iter(blamed(error).errors.values()), "")}
    return Page("picking/pick_unreached.html", say("Choose what to watch"), shows)


def _where(form: UrlPicking | SourcePicking, of: Source | str) -> dict[str, Any]:
    """Return links to pages. carried: hidden fields. of: a source, or a URL, whose preview it leads back to."""
    if isinstance(of, Source):
        here, name, carried = f"/sources/{of.id}/pick", display.name_of(of), {"revision": getattr(form, "revision", "")}
        done = {"done": f"{here}/save", "verb": say("Save"), "back": f"/sources/{of.id}"}
        return {"here": here, "name": name, "carried": carried} | done
    unsaid = ("selector", "ignore", "follow", "pick", "price")
    typed = {name: getattr(form, name) for name in form.__struct_fields__ if name not in unsaid}
    carried = {name: "true" if value is True else str(value) for name, value in typed.items() if value}
    done = {"done": f"{FROM_URL}/use", "verb": say("Use this"), "back": ADDING}
    return {"here": FROM_URL, "name": of, "carried": carried} | done


def shown(
    picked: Picked, pressed: Pressing, form: UrlPicking | SourcePicking, of: Source | str, *, moved: bool = False
) -> Page:
    """Return the page of blocks, or the effect of the pressed one. moved: the page has changed in the meantime."""
    page, choice, inherited = picked.page, picked.page.choice, dict(picked.inherited)
    press = press_of(pressed)
    chosen = None if isinstance(of, str) else (of.selector, of.ignore)
    takes_over = kept_of(picked) is not None and inherited.pop("selector", None) is not None
    cells = () if choice is None or press is None else choice.block.cells
    shows = {
        "where": _where(form, of),
        "page": page,
        "at": rfc3339(picked.fetched_at),
        "selector": form.selector or "",
        "ignore": form.ignore,
        "follow": form.follow or bool(pressed.links),
        "pressed": pressed,
        "cell": next((cell for cell in cells if press is not None and cell.number == press.cell), None),
        "act": next((name for name in ("only", "also", "without", "links") if getattr(pressed, name)), ""),
        "reaches": {name: say(text) for name, text in REACHES.items()},
        "inherited": inherited_part(picked.selector, picked.ignore, inherited),
        "takes_over": takes_over,
        "joins": bool(form.selector or picked.selector),
        "changed": (form.selector, lines_in(form.ignore)) != chosen,
        "subjects": {name: say(text) for name, text in SUBJECTS.items()},
        "moved": moved,
        "amount": _amount(page),
        "labels": {"price.amount": say("This amount")},
    }
    if choice is None:
        return Page("picking/pick.html", say("Choose what to watch"), shows)
    if pressed.price:
        return Page("picking/price.html", say("When the price changes"), shows)
    return Page("picking/picked.html", say("The watched part"), shows)


def kept_of(picked: Picked) -> str | None:
    choice = picked.page.choice
    return None if choice is None or choice.kept is None else choice.kept.selector


def _amount(page: PickPage) -> str:
    """Return the pressed block's first value as an editable number (1099.50), or "" without one."""
    if page.choice is None or not page.choice.block.values:
        return ""
    value = page.choice.block.values[0].value
    return f"{Decimal(value.number).scaleb(-value.scale):f}" if isinstance(value.number, int) else value.value


async def save(visit: Visit) -> Page | Go:
    """Save the choice. If the page's text has changed since, show it again; if that is unknown, save."""
    form: SourcePicking = visit.form
    source, ignore = (await sources.view(visit, visit.path["id"])).source, lines_in(form.ignore)
    pressed = _read(form.pick, Pressing)
    with suppress(Refusal, DomainError):
        picked = await operations.of_source(visit, source.id, PickWish(form.selector, ignore))
        if picked.page.now is None or picked.page.now.digest != pressed.digest:
            return shown(picked, Pressing(), form, source, moved=True)
    patch = SourcePatch(selector=form.selector, ignore=ignore)
    if form.follow != (source.follow != "none"):
        patch = replace(patch, follow="new_links" if form.follow else "none")
    await sources.change(visit, source.id, patch, frozenset((form.revision,)))
    says = say("Saved. The next check stores the new part as the baseline and reports nothing.")
    return Go(f"/sources/{source.id}", says)


Sign = Literal["below", "above", "drop", "any"]
_SIGNS: Final[Mapping[Sign, str]] = {"below": "<", "above": ">", "drop": ".drop>="}
_AMOUNT: Final = re.compile(r"\d{1,15}(?:\.\d{1,9})?%?|\d{4}-\d\d-\d\d|\d+(?:\.\d+){1,5}")
_KINDS: Final[Mapping[str, str]] = {"percent": "number"}  # the argument of `kind:` for a subject, if it differs


class PriceForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The block's value, and the alert's condition. narrow: watch nothing else of the page."""

    value: Annotated[int, Meta(ge=0, le=100)] = 0
    sign: Sign = "below"
    amount: Annotated[str, Meta(max_length=40)] = ""
    narrow: bool = False


class UrlPrice(UrlPicking, frozen=True, kw_only=True):
    """A URL that is about to be added for one of its values."""

    price: dict[str, str] = {}  # noqa: RUF012  a default of a struct, which copies it


class SourcePrice(SourcePicking, frozen=True, kw_only=True):
    """A watched page with one of its values."""

    price: dict[str, str] = {}  # noqa: RUF012  as above


def query_of(found: PickedValue, wanted: PriceForm) -> str:
    """Raises InvalidForm for an invalid amount. A place is needed only if more than the value is watched."""
    place = "" if wanted.narrow else found.place
    if wanted.sign == "any" or found.subject == "availability":
        return f"{place} kind:{_KINDS.get(found.subject, found.subject)}".strip()
    amount = wanted.amount.replace(" ", "").replace("\u00a0", "").replace(",", ".")
    if not _AMOUNT.fullmatch(amount):
        raise InvalidForm(**{"price.amount": say("Write a number, such as 14.50.")})
    unit = found.value.unit if found.subject in ("price", "number") and not amount.endswith("%") else ""
    sign = _SIGNS[wanted.sign] if wanted.sign != "drop" or found.subject in ("price", "number", "percent") else "<"
    return f"{place} {found.subject}{sign}{amount}{unit}".strip()


def _asked(picked: Picked, wanted: PriceForm) -> str:
    """Return the query for the chosen value. Raises InvalidForm if the page no longer has it."""
    choice = picked.page.choice
    if choice is None or wanted.value >= len(choice.block.values):
        raise InvalidForm(say("The page has changed, and this block is gone. Choose again."))
    return query_of(choice.block.values[wanted.value], wanted)


async def price_of_url(visit: Visit) -> Page | Go:
    """Watch a URL, then open the form of an alert for one of its values."""
    form: UrlPrice = visit.form
    url, wanted, pressed = only_url(form), _read(form.price, PriceForm), _read(form.pick, Pressing)
    picked = await _picked_from_url(visit, form, url, pressed)
    try:
        query = _asked(picked, wanted)
    except InvalidForm as wrong:
        return asked_again(visit, shown(picked, pressed, form, url), wrong)
    settings, kept = settings_in(form), kept_of(picked)
    if wanted.narrow and kept is not None:
        settings |= {"selector": kept}
    try:
        added = await sources.add(visit, NewSource(url=url, type="html", **settings))
    except (Refusal, DomainError) as error:
        raise blamed(error) from None
    return alert_of(added.view.source.id, query)


async def price_of_source(visit: Visit) -> Page | Go:
    """Open the form of an alert for a value of a watched page; watch only that block if requested."""
    form: SourcePrice = visit.form
    source = (await sources.view(visit, visit.path["id"])).source
    wanted, pressed = _read(form.price, PriceForm), _read(form.pick, Pressing)
    try:
        picked = await operations.of_source(visit, source.id, wish_of(form, pressed))
    except (Refusal, DomainError) as error:
        return unreached(source, error)
    try:
        query = _asked(picked, wanted)
    except InvalidForm as wrong:
        return asked_again(visit, shown(picked, pressed, form, source), wrong)
    if wanted.narrow and kept_of(picked) is not None:
        patch = SourcePatch(selector=kept_of(picked), ignore=lines_in(form.ignore))
        await sources.change(visit, source.id, patch, frozenset((form.revision,)))
    return alert_of(source.id, query)


def asked_again(visit: Visit, page: Page, wrong: InvalidForm) -> Page:
    visit.draft = Draft(draft_of(visit.form).given, wrong.errors, wrong.says)
    return dataclasses.replace(page, status=422)


def alert_of(source: str, query: str) -> Go:
    says = say("This is the alert for it. Try it, name it, and choose who to notify.")
    return Go(f"/alerts/new?{urlencode({'q': query, 'language': 'simple', 'source': source})}", says)


SCREENS: tuple[Screen, ...] = (
    post(FROM_URL, of_url, UrlPicking, again),
    post(f"{FROM_URL}/use", use, UrlPicking, again),
    Screen(path=PATH, run=of_source),
    post(PATH, press, SourcePicking, show),
    post(f"{PATH}/save", save, SourcePicking, show),
    post(f"{FROM_URL}/price", price_of_url, UrlPrice, again),
    post(f"{PATH}/price", price_of_source, SourcePrice, show),
)
