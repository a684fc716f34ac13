"""API keys: list, create, delete. Only the dashboard creates keys, not the API."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from actors.language.sentences import translated
from actors.language.speaking import noted, say
from api.dashboard.account.entry import check_again
from api.dashboard.forms import Confirm, Form, InvalidForm
from api.dashboard.screen import Go, Page, Reply, Screen, Secret, Visit, post
from api.keys import BURST, CHANNEL_SCOPE, MOST, RATE, SCOPES, KeyRefused
from api.nouns import keys as acts
from api.nouns.context import existing
from storage.records.access import ApiKey
from storage.records.identity import Millis

_Limit = Annotated[int, Meta(ge=1, le=MOST)]


class NewKey(Form, frozen=True):
    """A key to create. channels: the only ones that it may read. days: until it expires. present: the password."""

    verbatim: ClassVar[tuple[str, ...]] = ("present",)
    name: str
    scopes: tuple[str, ...] = ()
    channels: str = ""
    rate: _Limit = RATE
    burst: _Limit = BURST
    days: Annotated[int, Meta(ge=1, le=3650)] | None = None
    present: str = ""


FRESH = 10 * 60_000
"""Milliseconds after signing in without another password prompt. After that, a stolen session cannot create keys."""


def _is_fresh(visit: Visit) -> bool:
    return visit.session is not None and visit.now - visit.session.created_at < FRESH


def in_words(key: ApiKey) -> list[str]:
    """Return a key's permissions as phrases, one per scope.

    >>> from storage.records.identity import Millis
    >>> in_words(ApiKey("1", "n", "svc_", "", ("stream:read:pricing",), Millis(0)))
    ['read the channel pricing']
    """
    channel = noted("read the channel %(name)s")
    return [say(SCOPES.get(scope, channel), name=scope.removeprefix(CHANNEL_SCOPE)) for scope in key.scopes]


async def show_all(visit: Visit) -> Page:
    keys = [(key, in_words(key)) for key in reversed(await visit.context.storage.keys.all())]
    return Page("keys/list.html", say("API keys"), {"keys": keys})


class NewKeyQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """scope: those to tick."""

    scope: tuple[str, ...] = ()


async def show_new(visit: Visit) -> Page:
    scopes = [(scope, scope, say("May %(what)s.", what=say(says))) for scope, says in SCOPES.items()]
    shows = {"scopes": scopes, "ticked": visit.query.scope, "rate": RATE, "burst": BURST, "fresh": _is_fresh(visit)}
    return Page("keys/new.html", say("New API key"), shows)


async def create(visit: Visit) -> Reply:
    form: NewKey = visit.form
    channels = [f"{CHANNEL_SCOPE}{name}" for name in form.channels.replace(",", " ").split()]
    if not form.scopes and not channels:
        raise InvalidForm(scopes=say("Choose at least one: a key without any can do nothing."))
    scopes = (*form.scopes, *channels)
    if not _is_fresh(visit):
        if not form.present:
            raise InvalidForm(present=say("You signed in a while ago. Enter the password again."))
        await check_again(visit, "present", form.present)
    person = "" if visit.session is None else visit.session.person
    ends = None if form.days is None else Millis(visit.now + form.days * 86_400_000)
    more = {"rate": form.rate, "burst": form.burst}
    try:
        plaintext, key = await acts.make(visit, form.name, scopes, person=person, expires_at=ends, **more)
    except KeyRefused as error:
        field = "channels" if channels and error.field == "scopes" else error.field
        raise InvalidForm(**{field: translated(str(error))}) from None
    says = say("Copy it now: the service stores only its hash.")
    made, named = say("Key %(name)s created.", name=key.name), say("Key %(name)s", name=key.name)
    return Go(f"/keys/{key.id}", made, secret=Secret(named, plaintext, says))


async def show_one(visit: Visit) -> Page:
    key = await _key(visit)
    person = await visit.context.storage.accounts.get(key.person) if key.person else None
    shows = {"key": key, "may": in_words(key), "person": person, "base": visit.context.settings.public_url()}
    return Page("keys/one.html", key.name, shows)


async def delete(visit: Visit) -> Reply:
    key = await _key(visit)
    visit.form.check(key.name)
    await acts.revoke(visit, key.id)
    return Go("/keys", say("Key %(name)s deleted. Its next request gets 401.", name=key.name))


async def _key(visit: Visit) -> ApiKey:
    keys = await visit.context.storage.keys.all()
    found = next((key for key in keys if key.id == visit.path["id"]), None)
    return existing(found, say("There is no such key; it may have been deleted."))


SCREENS: tuple[Screen, ...] = (
    Screen(path="/keys", run=show_all),
    Screen(path="/keys/new", run=show_new, query=NewKeyQuery),
    post("/keys/new", create, NewKey, show_new),
    Screen(path="/keys/{id}", run=show_one),
    post("/keys/{id}/delete", delete, Confirm, show_one),
)
