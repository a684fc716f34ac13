"""Probes of access, made from the declared routes and screens. Each returns the leaks that it finds, as sentences.

A new route or screen needs no entry here. The expectation is the declared scope and the role's scopes, and nothing of
the code that decides. `only` narrows a probe to paths with this beginning.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import httpx
import trio
from msgspec.structs import replace

from api.app import SCREENS, make_admin_app
from api.dashboard.screen import Screen
from api.dashboard.sessions import Sessions
from api.openapi.document import operations as described
from api.route import PUBLIC, SCOPES, Route
from extras.people import factor as codes
from storage.records.access import SCOPES_OF, ApiKey, Invitation, Person, Role
from tests.api.house import BASE_URL, House, make_house, running
from tests.api.walk import CLOSED, call, may, path_of
from tests.storage.contract.builders import a_publication
from tests.support.build import NOW

ROLES: Sequence[Role] = ("reader", "editor", "owner")
OWN = "019db0a4-a060-7000-8000-0000000000d1"
"""The id of a person, an invitation, a publication."""
UNKNOWN = "019db0a4-a060-7000-8000-0000000000ff"
OWNERS_ONLY = ("/v1/people", "/v1/invitations", "/v1/activity", "/v1/admin", "/people", "/activity", "/keys", "/system")
"""These need `admin`, even if they declare less."""
GIFTS: dict[str, Role] = {"POST /v1/invitations": "reader", "PATCH /v1/people/{id}": "editor"}
"""The role that a call gives in the examples."""
_COUNT = iter(range(1, 10**9))


async def records(house: House) -> None:
    """Put records with the id `OWN`, again if a call has deleted them."""
    victim = Person(id=OWN, name="Victim", email="victim@example.com", role="reader", created_at=NOW)
    await house.storage.accounts.add(victim)
    await house.storage.accounts.withdraw(OWN)
    await house.storage.accounts.invite(Invitation(OWN, f"{next(_COUNT)}", "", "reader", "x", NOW))
    await house.storage.publications.put(replace(a_publication(), id=OWN))


async def person(house: House, role: Role, **more: Any) -> Person:
    id = f"019db0a4-a060-7000-8000-{next(_COUNT):012}"
    fields: dict[str, Any] = {"id": id, "name": role, "email": f"{id}@example.com", "created_at": NOW} | more
    made = Person(role=role, **fields)
    assert await house.storage.accounts.add(made)
    return made


async def key_of(house: House, scopes: Sequence[str], **more: Any) -> str:
    """Store a key; return its text."""
    text = f"svc_{next(_COUNT) + 10**40:043d}"
    hashed = sha256(text.encode()).hexdigest()
    await house.storage.keys.add(
        ApiKey(text[-8:], "probe", text[:12], hashed, tuple(scopes), NOW, 600_000, 10_000, **more)
    )
    return text


async def keys(house: House) -> dict[str, tuple[str, Sequence[str] | None]]:
    """Return keys by name: the text, and the scopes that must count; None: it must open nothing."""
    every = sorted(SCOPES - {PUBLIC})
    found: dict[str, tuple[str, Sequence[str] | None]] = {}
    for role in ROLES:
        owner = await person(house, role)
        found[role] = (await key_of(house, every, person=owner.id), sorted(SCOPES_OF[role]))
    out = await person(house, "owner", disabled=True)
    found["disabled owner"] = (await key_of(house, every, person=out.id), None)
    found["nobody's"] = (await key_of(house, every, person=UNKNOWN), None)
    found["expired"] = (await key_of(house, every, expires_at=NOW), None)
    for scope in every:
        found[scope] = (await key_of(house, (scope,)), (scope,))
    return found


def bodies(route: Route) -> list[Any]:
    """Return the examples of a route's body in the description, and an empty one."""
    return [*described()[route.label].requests.values(), {}] if route.body else [None]


async def operations(house: House, only: str = "/", share: int = 1) -> list[str]:
    """Call every operation with no key, each role's key and each key of one scope, for an own and an unknown id.

    share: call with every `share`-th key only. The bodies are drawn in turn from the examples.
    """
    leaks = []
    await house.publish("one")
    await records(house)
    everyone = await keys(house)
    async with house.stranger() as stranger:
        for number, route in enumerate(route for route in CLOSED if route.path.startswith(only)):
            await trio.sleep(600)
            if (answer := await call(stranger, route)).status_code != 401:
                leaks.append(f"{route.label} answers {answer.status_code} without a key")
            for place, (name, (text, scopes)) in enumerate(everyone.items()):
                if (number + place) % share:
                    continue
                headers = {"Authorization": f"Bearer {text}"}
                body = bodies(route)[place % len(bodies(route))]
                answers = [await asked(stranger, route, id, headers, body) for id in (OWN, UNKNOWN)]
                leaks += [f"{route.label} by {name}: {says}" for says in judged(route, scopes, answers)]
                if route.method != "GET":
                    await records(house)
    return leaks


async def asked(client: httpx.AsyncClient, route: Route, id: str, headers: dict[str, str], body: Any) -> httpx.Response:
    method = "HEAD" if route.media == "text/event-stream" else route.method
    return await client.request(method, path_of(route, id), json=body, headers=headers)


def judged(route: Route, scopes: Sequence[str] | None, answers: Sequence[httpx.Response]) -> list[str]:
    statuses = [answer.status_code for answer in answers]
    if scopes is None:
        return [] if statuses == [401, 401] else [f"a dead key gets {statuses}"]
    allowed = may(route, scopes) and ("admin" in scopes or not route.path.startswith(OWNERS_ONLY))
    if not allowed:
        says = {re.sub(r"[0-9a-f-]{36}|[0-9a-f]{16}", "", answer.text) for answer in answers}
        return [] if statuses == [403, 403] and len(says) == 1 else [f"gets {statuses}, and may not"]
    if route.label in GIFTS and not set(SCOPES_OF[GIFTS[route.label]]) <= set(scopes):
        return []  # whether the body gives a role decides
    return [f"gets {statuses}, and may"] if {401, 403} & set(statuses) or max(statuses) >= 500 else []


async def trusted_header(_house: House, only: str = "/") -> list[str]:
    """Name an owner in the header of a proxy that is not trusted, and a reader in one that is."""
    given: dict[str, Any] = {"auth_header": "Remote-User", "auth_roles": ("admins=owner", "guests=reader")}
    shown = [one for one in SCREENS if one.access == "session" and one.method == "GET" and one.path.startswith(only)]
    leaks = []
    for trusted, group in (("10.0.0.1/32", "admins"), ("127.0.0.0/8", "guests")):
        async with running(make_house(trusted_proxies=(trusted,), **given)) as house:
            headers = {"Remote-User": "mallory", "Remote-Groups": group}
            async with house.stranger(**headers) as client:
                await client.get("/sign-in/proxy", headers=headers)
                for screen in shown:
                    await trio.sleep(60)
                    status = (await visit(client, screen, UNKNOWN, "")).status_code
                    allowed = group == "guests" and not screen.path.startswith(OWNERS_ONLY)
                    if not allowed and status not in (303, 401, 403):
                        leaks.append(f"{screen.label} answers {status} to {group} of {trusted}")
            people = await house.storage.accounts.all()
            if [one.role for one in people] != (["reader"] if group == "guests" else []):
                leaks.append(f"{group} of {trusted} made {people}")
    return leaks


@asynccontextmanager
async def signed_in(house: House, whose: Person | None) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """Open a session, of the service's password for None; give a client, and the token for its forms."""
    session, cookie = Sessions.of_context(house.context).begin("probe", "192.0.2.1")
    await house.storage.people.open(replace(session, person="" if whose is None else whose.id))
    value = cookie.partition(";")[0]
    token = hmac.new(value.partition("=")[2].encode(), b"form", sha256).hexdigest()
    async with house.stranger(Cookie=value, Connection="close") as client:
        yield client, token


async def visit(client: httpx.AsyncClient, screen: Screen, id: str, token: str, **headers: str) -> httpx.Response:
    path = re.sub(r"{\w+}", id, screen.path)
    if screen.method == "POST":
        return await client.post(path, data={"token": token}, headers={"Origin": BASE_URL} | headers)
    return await client.request("HEAD" if screen.live else "GET", path, headers=headers)


async def screens(house: House, only: str = "/") -> list[str]:
    """Visit every screen without a session and as each role, with a known and an unknown id; with forged forms, too."""
    leaks = []
    await house.publish("one")
    await records(house)
    out = await person(house, "owner", disabled=True)
    people = [(role, await person(house, role)) for role in ROLES]
    for screen in SCREENS:
        if screen.access != "session" or not screen.path.startswith(only):
            continue
        await trio.sleep(600)
        async with house.stranger() as stranger:
            answer = await visit(stranger, screen, OWN, "x")
            if answer.status_code not in (303, 401) or answer.content.strip() not in (b"", b"Sign in first."):
                leaks.append(f"{screen.label} answers {answer.status_code} to nobody")
        async with signed_in(house, out) as (client, token):
            if (await visit(client, screen, OWN, token)).status_code not in (303, 401):
                leaks.append(f"{screen.label} opens for a disabled person")
        for role, whose in people:
            for id in (OWN, UNKNOWN):
                async with signed_in(house, whose) as (client, token):
                    leaks += [
                        f"{screen.label} by {role}: {says}" for says in await visited(client, screen, id, token, role)
                    ]
                if screen.method == "POST":
                    await records(house)
            if screen.method == "POST":
                async with signed_in(house, whose) as (client, token):
                    leaks += [f"{screen.label} by {role}: {says}" for says in await forged(client, screen, token)]
    return leaks


async def visited(client: httpx.AsyncClient, screen: Screen, id: str, token: str, role: Role) -> list[str]:
    """Visit a screen in a session; return the leaks. `needs` is the declared scope."""
    answer = await visit(client, screen, id, token)
    allowed = screen.needs in SCOPES_OF[role] and (role == "owner" or not screen.path.startswith(OWNERS_ONLY))
    found = (
        [] if (answer.status_code != 403) is allowed and answer.status_code < 500 else [f"gets {answer.status_code}"]
    )
    policy = answer.headers.get("Content-Security-Policy", "")
    if "frame-ancestors 'none'" not in policy or "form-action 'self'" not in policy:
        found.append("may be framed, or its forms sent elsewhere")
    return found


async def forged(client: httpx.AsyncClient, screen: Screen, token: str) -> list[str]:
    """Send a form with another token, and from another site; return the leaks."""
    wrong = await visit(client, screen, UNKNOWN, "x" * len(token))
    elsewhere = await visit(client, screen, UNKNOWN, token, Origin="https://evil.test")
    return [f"a forged form gets {one.status_code}" for one in (wrong, elsewhere) if one.status_code != 403]


async def admin_socket(house: House, only: str = "/") -> list[str]:
    """Call every operation of the admin socket as its owner, and as a proxy or a browser would."""
    owner = ApiKey("socket", "this machine", "socket", "", tuple(SCOPES), NOW, 600_000, 10_000)
    client, leaks = make_admin_app(house.context, owner).test_client(), []
    for route in CLOSED:
        if not route.path.startswith(only) or route.media == "text/event-stream" or route.method != "GET":
            continue
        answer = await client.get(path_of(route, UNKNOWN))
        if answer.status_code in (401, 403):
            leaks.append(f"{route.label} refuses the machine's owner")
        for headers in ({"X-Forwarded-For": "192.0.2.1"}, {"Origin": "https://evil.test"}, {"Host": "evil.test"}):
            answer = await client.get(path_of(route, UNKNOWN), headers=headers)
            if answer.status_code != 403:
                leaks.append(f"{route.label} answers {answer.status_code} to {headers}")
    return leaks


async def joining(house: House) -> list[str]:
    """Invite, join twice with one link, and make an owner with a key of less."""
    leaks, invited = [], f"{next(_COUNT):043d}"
    await house.storage.accounts.invite(
        Invitation(f"i{invited}", sha256(invited.encode()).hexdigest(), "", "reader", "x", NOW)
    )
    made = []
    for number in range(2):
        fields = {"code": invited, "name": "New", "email": f"new{number}@example.com"}
        made.append(await join(house, fields))
    if made != [303, 422]:
        leaks.append(f"joining twice with one link gets {made}")
    key = await key_of(house, ("admin", *SCOPES_OF["reader"]))
    headers = {"Authorization": f"Bearer {key}"}
    async with house.stranger(**headers) as client:
        answer = await client.post("/v1/invitations", json={"role": "owner"})
        if answer.status_code != 403:
            leaks.append("a key makes an owner without the scopes of one")
    return leaks


PASSWORD = "gulls over the harbour wall"


async def join(house: House, fields: dict[str, str]) -> int:
    async with house.stranger() as client:
        page = await client.get("/join")
        (token,) = set(re.findall(r'name="token" value="([^"]+)"', page.text))
        form = {**fields, "password": PASSWORD, "again": PASSWORD, "token": token}
        answer = await client.post("/join", data=form, headers={"Origin": BASE_URL})
    return answer.status_code


async def sign_in(house: House) -> list[str]:
    """Sign in within a session, with a next page elsewhere; then with a code that was used."""
    leaks = []
    whose = await person(house, "reader", hashed=f"hash of {PASSWORD}")
    async with signed_in(house, whose) as (client, token):
        before = {one.id for one in await house.storage.people.sessions() if one.person == whose.id}
        form = {"email": whose.email, "password": PASSWORD, "token": token, "next": "//evil.test"}
        answer = await client.post("/sign-in", data=form, headers={"Origin": BASE_URL})
        after = {one.id for one in await house.storage.people.sessions() if one.person == whose.id}
    if answer.headers.get("Location") != "/":
        leaks.append(f"signing in leads to {answer.headers.get('Location')}")
    if before & after or not after:
        leaks.append("a session from before signing in goes on")
    return leaks


async def second_factor(house: House) -> list[str]:
    """Use one code twice."""
    whose = await person(house, "reader", hashed=f"hash of {PASSWORD}")
    secret = b"12345678901234567890"
    await house.storage.accounts.set_totp(whose.id, codes.Factor(secret).encoded())
    statuses = []
    code = codes.code_at(secret, house.context.world.now() // codes.STEP)
    for given in ("", "000000", code, code):
        async with house.stranger() as client:
            page = await client.get("/sign-in")
            (token,) = set(re.findall(r'name="token" value="([^"]+)"', page.text))
            form = {"email": whose.email, "password": PASSWORD, "code": given, "token": token}
            answer = await client.post("/sign-in", data=form, headers={"Origin": BASE_URL})
            statuses.append(answer.status_code)
    return [] if statuses == [422, 422, 303, 422] else [f"codes get {statuses}"]


async def activity(house: House) -> list[str]:
    """Change records that have secrets, and search the activity for them."""
    every = await key_of(house, sorted(SCOPES - {PUBLIC}))
    secrets = ["hunter2-of-the-cookie"]
    async with house.stranger(Authorization=f"Bearer {every}") as client:
        await client.post("/v1/sources", json={"url": "https://a.test/", "headers": f"Cookie: {secrets[0]}"})
        made = (await client.post("/v1/publications", json={"title": "Prices"})).json()
        secrets.append(made["url"].rpartition("/")[2])
        made = (await client.post("/v1/webhook-bins", json={})).json()
        secrets.append(made["url"].rpartition("/")[2])
        made = (await client.post("/v1/invitations", json={})).json()
        secrets.append(made["url"].rpartition("#")[2])
    rows = await house.storage.accounts.activity("~", 1000)
    leaks = [] if len(rows) >= 4 else [f"{len(rows)} of 4 changes are recorded"]
    return leaks + [f"the activity has {one}" for one in secrets if one in repr(rows)]


async def owners(house: House) -> list[str]:
    """Remove both owners of a service without a password."""
    one, other = [await person(house, "owner") for _ in range(2)]
    key = await key_of(house, sorted(SCOPES - {PUBLIC}))
    async with house.stranger(Authorization=f"Bearer {key}") as client:
        statuses = [(await client.delete(f"/v1/people/{whose.id}")).status_code for whose in (one, other)]
    return [] if statuses == [204, 409] else [f"removing both owners gets {statuses}"]
