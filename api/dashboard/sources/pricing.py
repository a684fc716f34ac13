"""From a pressed price to an alert: which value, and the condition to notify on."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta, Struct

from actors.errors import DomainError
from actors.messages.requests import NewSource, SourcePatch
from actors.previews import PickChoice, PickedValue
from api.dashboard.forms import Draft, Wrong, draft_of
from api.dashboard.language.speaking import say
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sources.add import again, blamed, lines_of
from api.dashboard.sources.choosing import (
    FROM_URL,
    PATH,
    SourcePicking,
    UrlPicking,
    changed,
    pressing_of,
    request_of,
    selectors_in,
    shown,
    unreached,
    where_at_adding,
    where_of,
    wish_of,
)
from api.dashboard.sources.one import show
from api.dashboard.sources.options import settings_in
from api.operations import picks, sources
from api.problems import Refusal

Sign = Literal["below", "above", "drop", "any"]
_SIGNS: Final[Mapping[Sign, str]] = {"below": "<", "above": ">", "drop": ".drop>="}
_AMOUNT: Final = re.compile(r"\d{1,15}(?:\.\d{1,9})?%?|\d{4}-\d\d-\d\d|\d+(?:\.\d+){1,5}")
_KINDS: Final[Mapping[str, str]] = {"percent": "number"}
"""The argument of `kind:` for a subject, if it differs."""


class Wanted(Struct, frozen=True, forbid_unknown_fields=True):
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


def wanted_of(price: Mapping[str, str]) -> Wanted:
    """Return the form's values. Raises Wrong."""
    try:
        return msgspec.convert(dict(price), Wanted, strict=False)
    except msgspec.ValidationError:
        raise Wrong(say("The form was not as it was sent to you. Open the page anew.")) from None


def query_of(found: PickedValue, wanted: Wanted) -> str:
    """Return the query of an alert for a value. Raises Wrong for an invalid amount.

    A place separates the value from others on the page; if nothing else is watched, it needs none.
    """
    place = "" if wanted.narrow else found.place
    if wanted.sign == "any" or found.subject == "availability":
        return f"{place} kind:{_KINDS.get(found.subject, found.subject)}".strip()
    amount = wanted.amount.replace(" ", "").replace("\u00a0", "").replace(",", ".")
    if not _AMOUNT.fullmatch(amount):
        raise Wrong(**{"price.amount": say("Write a number, such as 14.50.")})
    unit = found.value.unit if found.subject in ("price", "number") and not amount.endswith("%") else ""
    sign = _SIGNS[wanted.sign] if wanted.sign != "drop" or found.subject in ("price", "number", "percent") else "<"
    return f"{place} {found.subject}{sign}{amount}{unit}".strip()


def chosen(choice: PickChoice | None, wanted: Wanted) -> PickedValue:
    """Return the chosen value. Raises Wrong if the page no longer has it."""
    if choice is None or wanted.value >= len(choice.block.values):
        raise Wrong(say("The page has changed, and this block is not there any more. Choose again."))
    return choice.block.values[wanted.value]


async def of_url(visit: Visit) -> Page | Go:
    """Watch a URL, then open the form of an alert for one of its values."""
    form: UrlPrice = visit.form
    urls = lines_of(form.urls)
    if len(urls) != 1:
        raise Wrong(urls=say("Here one URL is added. Look at several first."))
    wanted, pressed = wanted_of(form.price), pressing_of(form.pick)
    try:
        wish = wish_of(form.selector, form.ignore, pressed)
        picked = await sources.pick_from_url(visit, request_of(form, urls[0]), wish)
        choice = picked.page.choice
        try:
            query = query_of(chosen(choice, wanted), wanted)
        except Wrong as wrong:
            return asked_again(visit, shown(visit, picked, pressed, where_at_adding(form, urls[0]), form), wrong)
        settings = settings_in(form)
        if wanted.narrow and choice is not None and choice.kept is not None:
            settings |= {"selector": choice.kept.selector}
        added = await sources.add(visit, NewSource(url=urls[0], type="html", **settings))
    except (Refusal, DomainError) as error:
        raise blamed(error) from None
    return alert_of(added.view.source.id, query)


async def of_source(visit: Visit) -> Page | Go:
    """Open the form of an alert for a value of a watched page; watch only that block if requested."""
    form: SourcePrice = visit.form
    source = (await sources.view(visit, visit.path["id"])).source
    wanted, pressed = wanted_of(form.price), pressing_of(form.pick)
    try:
        picked = await picks.of_source(visit, source, wish_of(form.selector, form.ignore, pressed))
    except (Refusal, DomainError) as error:
        return unreached(source, error)
    choice = picked.page.choice
    try:
        query = query_of(chosen(choice, wanted), wanted)
    except Wrong as wrong:
        again = shown(visit, picked, pressed, where_of(source, form.revision), form, source=source)
        return asked_again(visit, again, wrong)
    if wanted.narrow and choice is not None and choice.kept is not None:
        patch = SourcePatch(selector=choice.kept.selector, ignore=selectors_in(form.ignore))
        await changed(visit, source, patch, form.revision)
    return alert_of(source.id, query)


def asked_again(visit: Visit, page: Page, wrong: Wrong) -> Page:
    """Return the page with the choices, with the input and the errors."""
    visit.draft = Draft(draft_of(visit.form).given, wrong.errors, wrong.says)
    return dataclasses.replace(page, status=422)


def alert_of(source: str, query: str) -> Go:
    """Redirect to the form of a new alert, with its query."""
    says = say("Here is the alert for it. Try it, give it a name, and choose who is told.")
    return Go(f"/alerts/new?{urlencode({'q': query, 'language': 'simple', 'source': source})}", says)


SCREENS = (
    Screen(method="POST", path=f"{FROM_URL}/price", run=of_url, form=UrlPrice, again=again),
    Screen(method="POST", path=f"{PATH}/price", run=of_source, form=SourcePrice, again=show),
)
