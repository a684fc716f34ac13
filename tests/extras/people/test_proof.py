"""Access holds for everything that is declared; and each planted leak is found by the probes."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import pytest

import api.app
import api.auth
import api.dashboard.face
import api.key_face
import api.openapi.document
import api.route
import extras.people.entry
import extras.people.factor
import extras.people.operations
import extras.people.proxy
import extras.people.recording
import storage.sql.stores.people
from storage.records.access import Session
from storage.records.identity import Millis
from tests.api.house import House, make_house, running
from tests.extras.people import probes

Probe = Callable[[House], Awaitable[Sequence[str]]]
PROBES: dict[str, Probe] = {
    "operations": partial(probes.operations, share=5),
    "operations of owners": partial(probes.operations, only="/v1/people"),
    "screens": probes.screens,
    "the admin socket": probes.admin_socket,
    "joining": probes.joining,
    "signing in": probes.sign_in,
    "second factor": probes.second_factor,
    "activity": probes.activity,
    "the last owner": probes.owners,
    "the header of a proxy": probes.trusted_header,
}


@pytest.mark.parametrize("name", PROBES)
async def test_nothing_leaks(house: House, name: str) -> None:
    assert list(await PROBES[name](house)) == []


async def test_no_operation_leaks_to_any_key(house: House) -> None:
    assert await probes.operations(house) == []


Plant = Callable[[pytest.MonkeyPatch], None]
PLANTS: list[tuple[str, Plant, Probe]] = []


def plant(probe: Callable[..., Awaitable[Sequence[str]]], **more: Any) -> Callable[[Plant], Plant]:
    def planted(leak: Plant) -> Plant:
        PLANTS.append((leak.__name__, leak, partial(probe, **more)))
        return leak

    return planted


def without(patch: pytest.MonkeyPatch, module: Any, query: str, text: str) -> None:
    """Leave out a part of a query."""
    assert text in getattr(module, query)
    patch.setattr(module, query, getattr(module, query).replace(text, ""))


@plant(probes.operations, only="/v1/people")
def routes_check_no_scope(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(api.route.Route, "granted_to", lambda *given: True)


@plant(probes.operations, only="/v1/invitations")
def keys_exceed_the_role(patch: pytest.MonkeyPatch) -> None:
    storage.sql.stores.people._key.cache_clear()
    patch.setattr(storage.records.access, "allowed", lambda scopes, role: tuple(scopes))


@plant(probes.operations, only="/v1/tags")
def keys_of_disabled_people_work(patch: pytest.MonkeyPatch) -> None:
    without(patch, storage.sql.stores.people, "_KEY_BY_HASH", " AND p.disabled=0")


@plant(probes.operations, only="/v1/tags")
def keys_of_removed_people_work(patch: pytest.MonkeyPatch) -> None:
    without(patch, storage.sql.stores.people, "_KEY_BY_HASH", " AND (k.person='' OR m.role IS NOT NULL)")


@plant(probes.operations, only="/v1/tags")
def expired_keys_work(patch: pytest.MonkeyPatch) -> None:
    identify = api.auth.identify
    patch.setattr(
        api.key_face,
        "identify",
        lambda headers, query, keys, now, path: identify(headers, query, keys, Millis(0), path),
    )


@plant(probes.operations, only="/v1/activity")
def a_route_asks_for_less(patch: pytest.MonkeyPatch) -> None:
    (route,) = [one for one in probes.CLOSED if one.path == "/v1/activity"]
    weaker = dataclasses.replace(route, scope="stream:read")
    routes = api.openapi.document.ROUTES
    patch.setattr(api.app, "ROUTES", tuple(weaker if one.label == route.label else one for one in routes))
    patch.setattr(probes, "CLOSED", [weaker])


@plant(probes.screens, only="/people")
def sessions_may_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Session, "may", lambda *given: True)


@plant(probes.screens, only="/publications")
def sessions_of_disabled_people_go_on(patch: pytest.MonkeyPatch) -> None:
    module = storage.sql.stores.people
    without(patch, module, "_BY_HASH", " AND p.disabled=0")


@plant(probes.screens, only="/views")
def forms_need_no_token(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(api.dashboard.face, "_check_token", lambda given: None)


@plant(probes.screens, only="/views")
def forms_come_from_anywhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(api.dashboard.face, "is_foreign", lambda *given: False)


@plant(probes.screens, only="/activity")
def pages_may_be_framed(patch: pytest.MonkeyPatch) -> None:
    without(patch, api.dashboard.face, "POLICY", "frame-ancestors 'none'; ")


@plant(probes.admin_socket, only="/v1/people")
def the_socket_takes_requests_of_a_proxy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(api.key_face, "passed_on", lambda headers: "")


@plant(probes.joining)
def an_invitation_works_twice(patch: pytest.MonkeyPatch) -> None:
    accounts = storage.sql.stores.people.Accounts
    add = accounts.add
    patch.setattr(accounts, "add", lambda self, person, invitation="": add(self, person))


@plant(probes.joining)
def a_key_gives_more_than_it_has(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(extras.people.operations, "check_gift", lambda *given: None)


@plant(probes.sign_in)
def signing_in_leads_elsewhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(extras.people.entry, "own_path", lambda text: text)


@plant(probes.sign_in)
def the_old_session_goes_on(patch: pytest.MonkeyPatch) -> None:
    async def nothing(*given: object) -> bool:
        return True

    patch.setattr(storage.sql.stores.people.People, "sign_out", nothing)


@plant(probes.second_factor)
def a_code_works_twice(patch: pytest.MonkeyPatch) -> None:
    used = extras.people.factor.used
    patch.setattr(extras.people.factor, "used", lambda factor, *given: factor if used(factor, *given) else None)


@plant(probes.activity)
def the_activity_has_secret_addresses(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(extras.people.recording, "_CREDENTIALS", {})


@plant(probes.activity)
def changes_by_keys_are_not_recorded(patch: pytest.MonkeyPatch) -> None:
    labels = {route.label for route in probes.CLOSED}
    patch.setattr(extras.people.recording, "NO_CHANGES", labels)


@plant(probes.owners)
def the_last_owner_goes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(storage.sql.stores.people, "_is_last", lambda *given: False)


@plant(probes.trusted_header, only="/people")
def any_client_names_a_person(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(extras.people.proxy, "is_trusted", lambda *given: True)


@plant(probes.trusted_header, only="/people")
def any_group_makes_an_owner(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(extras.people.proxy, "role_of", lambda *given: "owner")


@pytest.mark.parametrize(("leak", "probe"), [pytest.param(leak, probe, id=name) for name, leak, probe in PLANTS])
async def test_a_planted_leak_is_found(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch, leak: Plant, probe: Probe
) -> None:
    leak(monkeypatch)
    async with running(make_house()) as house:
        assert await probe(house)
    storage.sql.stores.people._key.cache_clear()
