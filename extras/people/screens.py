"""The pages of people and activity."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, json

from actors.errors import Conflict
from actors.language.speaking import noted, say, translated_rows
from api.dashboard.forms import Confirm, Form, InvalidForm
from api.dashboard.screen import Go, Page, Reply, Screen, Secret, Visit, post
from api.fields.queries import Cursor
from api.pagination import decode_cursor, encode_cursor
from extras.people import operations as acts
from extras.people.fields import ActivityQuery
from storage.records.identity import Millis
from storage.records.person import INVITATION_LIFE, Role

ROLES = (
    ("reader", noted("Reader: sees sources, events and alerts")),
    ("editor", noted("Editor: also changes them")),
    ("owner", noted("Owner: also people, keys and the service")),
)
ROLE_NAMES = {"reader": noted("Reader"), "editor": noted("Editor"), "owner": noted("Owner")}
PAGE = 50
"""Changes on a page."""


class Invite(Form, frozen=True):
    """The role, and the only address that may join."""

    role: Role = "reader"
    email: Annotated[str, Meta(max_length=254, pattern=r"^$|^[^@\s]+@[^@\s]+$")] = ""


class NewRole(Form, frozen=True):
    """The role of a person."""

    role: Role


async def show_all(visit: Visit) -> Page:
    waiting = await visit.context.storage.accounts.invitations(visit.now)
    shows = {
        "people": await acts.every(visit),
        "invitations": [(one, Millis(one.created_at + INVITATION_LIFE)) for one in waiting],
        "roles": translated_rows(ROLES),
        "names": ROLE_NAMES,
    }
    return Page("people/list.html", say("People"), shows)


async def invite(visit: Visit) -> Reply:
    form: Invite = visit.form
    try:
        _, url = await acts.invite(visit, form.role, form.email)
    except Conflict as error:
        raise InvalidForm(email=error.detail) from None
    says = say("Send it to the person. It works once, for 7 days, and is not shown again.")
    return Go("/people", say("Invitation made."), secret=Secret(say("Invitation link"), url, says))


async def withdraw(visit: Visit) -> Reply:
    await acts.withdraw(visit, visit.path["id"])
    return Go("/people", say("The invitation is withdrawn."))


async def show_one(visit: Visit) -> Page:
    storage = visit.context.storage
    person = await acts.named(visit, visit.path["id"])
    shows = {
        "person": person,
        "keys": [one for one in await storage.keys.all() if one.person == person.id and not one.grant],
        "browsers": sum(one.person == person.id for one in await storage.people.sessions()),
        "roles": translated_rows(ROLES),
        "names": ROLE_NAMES,
    }
    return Page("people/one.html", person.name, shows)


async def give_role(visit: Visit) -> Reply:
    person = await acts.change(visit, visit.path["id"], role=visit.form.role)
    return Go(f"/people/{person.id}", say("Saved. %(name)s signs in again.", name=person.name))


async def disable(visit: Visit) -> Reply:
    person = await acts.change(visit, visit.path["id"], disabled=True)
    return Go(f"/people/{person.id}", say("%(name)s is out: no session and no key works.", name=person.name))


async def enable(visit: Visit) -> Reply:
    person = await acts.change(visit, visit.path["id"], disabled=False)
    return Go(f"/people/{person.id}", say("%(name)s may sign in again.", name=person.name))


async def forget_factor(visit: Visit) -> Reply:
    person = await acts.named(visit, visit.path["id"])
    await visit.context.storage.accounts.set_totp(person.id, None)
    visit.context.world.log("people.factor_removed", person=person.id)
    return Go(f"/people/{person.id}", say("%(name)s signs in without a code.", name=person.name))


async def remove(visit: Visit) -> Reply:
    visit.form.check_deletion()
    person = await acts.named(visit, visit.path["id"])
    await acts.remove(visit, person.id)
    return Go("/people", say("%(name)s is removed, with all sessions and keys.", name=person.name))


class ShownActivity(Struct, frozen=True, forbid_unknown_fields=True):
    """The filters, and the place in the list."""

    person: Annotated[str, Meta(max_length=100)] = ""
    object: Annotated[str, Meta(max_length=500)] = ""
    cursor: Cursor | None = None


async def show_activity(visit: Visit) -> Page:
    query: ShownActivity = visit.query
    before = acts.NEWEST if query.cursor is None else decode_cursor(query.cursor, str, visit.target)
    asked = ActivityQuery(person=query.person, object=query.object, limit=PAGE)
    found = await acts.read_activity(visit, asked, before)
    page = found[:PAGE]
    more = encode_cursor(page[-1].id, visit.target) if len(found) > len(page) else None
    shows = {
        "rows": [(one, page_of(one.object), *map(_text, (one.before, one.after))) for one in page],
        "people": [("", say("Everyone")), *((one.id, one.name) for one in await acts.every(visit))],
        "wanted": query,
        "next": visit.onward(more),
    }
    return Page("people/activity.html", say("Activity"), shows)


def page_of(object: str) -> str:
    """Return the path of a record's page in the dashboard, "" if it has none.

    >>> page_of("/v1/alerts/3"), page_of("/v1/tags/prices")
    ('/alerts/3', '')
    """
    path = object.removeprefix("/v1")
    has_page = path.split("/")[1:2] and path.split("/")[1] in _HAVE_PAGES and path.count("/") == 2
    return path if has_page else ""


_HAVE_PAGES = ("sources", "alerts", "destinations", "publications", "webhook-bins", "people", "keys", "events")


def _text(body: bytes | None) -> list[tuple[str, str]]:
    """Return the fields of one side of a difference, each with its value as text."""
    fields = {} if body is None else json.decode(body)
    return [(name, value if isinstance(value, str) else json.encode(value).decode()) for name, value in fields.items()]


_ONE = "/people/{id}"
SCREENS: tuple[Screen, ...] = (
    Screen(path="/people", run=show_all),
    post("/people/invite", invite, Invite, show_all),
    post("/people/invitations/{id}/withdraw", withdraw, Form, show_all),
    Screen(path=_ONE, run=show_one),
    post(f"{_ONE}/role", give_role, NewRole, show_one),
    post(f"{_ONE}/disable", disable, Form, show_one),
    post(f"{_ONE}/enable", enable, Form, show_one),
    post(f"{_ONE}/forget-factor", forget_factor, Form, show_one),
    post(f"{_ONE}/delete", remove, Confirm, show_one),
    Screen(path="/activity", run=show_activity, query=ShownActivity),
)
