"""The pages of people and activity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct, json

from actors.errors import Conflict
from actors.language.speaking import noted, say, translated_rows
from api.dashboard.events import names_of
from api.dashboard.forms import Confirm, Form, InvalidForm
from api.dashboard.screen import Go, Page, Reply, Screen, Secret, Visit, post
from api.fields.queries import Cursor
from api.pagination import decode_cursor, encode_cursor
from extras.people import operations as acts
from extras.people.fields import ActivityQuery
from storage.records.access import INVITATION_LIFE, Activity, Role
from storage.records.identity import Millis, SourceId

ROLES = (
    ("reader", noted("Reader: sees sources, events and alerts")),
    ("editor", noted("Editor: also changes them")),
    ("owner", noted("Owner: also people, keys and the service")),
)
ROLE_NAMES = {"reader": noted("Reader"), "editor": noted("Editor"), "owner": noted("Owner")}
PAGE = 50  # changes on a page


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
        made, url = await acts.invite(visit, form.role, form.email)
    except Conflict as error:
        raise InvalidForm(email=error.detail) from None
    says = say("Send it to the person. It works once, for 7 days, and is not shown again.")
    secret = Secret(say("Invitation link"), url, says)
    return Go("/people", say("Invitation made."), secret=secret, made=f"/v1/invitations/{made.id}")


async def withdraw(visit: Visit) -> Reply:
    await acts.withdraw(visit, visit.path["id"])
    return Go("/people", say("The invitation is withdrawn."))


async def show_one(visit: Visit) -> Page:
    storage = visit.context.storage
    person = await acts.named(visit, visit.path["id"])
    shows = {
        "person": person,
        "keys": [key for key in await storage.keys.all() if key.person == person.id and not key.grant],
        "browsers": sum(session.person == person.id for session in await storage.people.sessions()),
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
    found = await acts.read_activity(visit, ActivityQuery(person=query.person, object=query.object, limit=PAGE), before)
    page, people = found[:PAGE], await acts.every(visit)
    more = encode_cursor(page[-1].id, visit.target) if len(found) > len(page) else None
    sources = {SourceId(one.object[12:]) for one in page if one.object.startswith("/v1/sources/")}
    alerts = {alert.id: alert.name for alert in await visit.context.storage.alerts.all()}
    called = alerts | {person.id: person.name for person in people} | dict(await names_of(visit, sources))
    shows = {
        "rows": [_row(one, called) for one in page],
        "people": [("", say("Everyone")), *((person.id, person.name) for person in people)],
        "names": ROLE_NAMES,
        "wanted": query,
        "next": visit.onward(more),
    }
    return Page("people/activity.html", say("Activity"), shows)


def act_of(operation: str) -> tuple[str, str]:
    """Return the noun and the verb of an operation.

    >>> act_of("PATCH /v1/alerts/{id}"), act_of("POST /sources/{id}/pause"), act_of("keys create")
    (('alerts', 'PATCH'), ('sources', 'pause'), ('keys', 'create'))
    """
    method, _, path = operation.partition(" ")
    if not path.startswith("/"):  # a command
        return method, path
    noun, *rest = path.removeprefix("/v1").strip("/").split("/")
    return noun, next((part for part in reversed(rest) if not part.startswith("{")), method)


def _row(activity: Activity, called: Mapping[str, str]) -> Mapping[str, object]:
    """Return a change with its sentence's parts. The name is the present one, else one in the fields that differ."""
    before, after = ({} if body is None else json.decode(body) for body in (activity.before, activity.after))
    fields, id = {**before, **after}, activity.object.rpartition("/")[2]
    noun, verb = act_of(activity.operation)
    return {
        "one": activity,
        "noun": noun,
        "verb": verb,
        "name": called.get(id) or next((fields[name] for name in _NAMES if fields.get(name)), ""),
        "role": fields.get("role", ""),
        "page": page_of(activity.object),
        "fields": [(name, _text(before.get(name)), _text(after.get(name))) for name in fields],
    }


_NAMES = ("name", "title", "app", "email", "url", "tag")


def page_of(object: str) -> str:
    """Return the path of a record's page in the dashboard, "" if it has none.

    >>> page_of("/v1/alerts/3"), page_of("/v1/tags/prices")
    ('/alerts/3', '')
    """
    path = object.removeprefix("/v1")
    return path if path.count("/") == 2 and path.split("/")[1] in _HAVE_PAGES else ""


_HAVE_PAGES = ("sources", "alerts", "destinations", "publications", "webhook-bins", "people", "keys", "events")


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.encode(value).decode()


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
