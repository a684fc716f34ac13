"""People over the API: invite, list, change, remove; giving a role; the last owner; the activity list."""

from __future__ import annotations

import httpx
import pytest
import trio

from storage.records.access import SCOPES_OF, Activity, Password, Person, Role
from storage.records.identity import Millis
from tests.api.house import House
from tests.support.build import NOW
from tests.support.disks import set_password

ANNA = "019db0a4-a060-7000-8000-0000000000a1"
BO = "019db0a4-a060-7000-8000-0000000000b0"


async def add(house: House, id: str, role: Role = "owner", **more: object) -> Person:
    fields = {"name": id[-2:], "email": f"{id[-2:]}@example.com", "created_at": NOW} | more
    person = Person(id=id, role=role, **fields)  # type: ignore[arg-type]  # the test's own fields
    assert await house.storage.accounts.add(person)
    return person


async def test_an_invitation_shows_its_link_once(house: House, client: httpx.AsyncClient) -> None:
    made = await client.post("/v1/invitations", json={"role": "editor", "email": "Ada@Example.com"})
    record = made.json()
    assert made.status_code == 201
    assert record["url"].startswith("http://sanderling.test/join#") and record["email"] == "ada@example.com"
    (listed,) = (await client.get("/v1/invitations")).json()
    assert listed == record | {"url": None} == (await client.get(f"/v1/invitations/{record['id']}")).json()
    assert (await client.delete(f"/v1/invitations/{record['id']}")).status_code == 204
    assert (await client.delete(f"/v1/invitations/{record['id']}")).status_code == 404


async def test_a_repeated_invitation_is_one_invitation(house: House, client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "one"}
    first = await client.post("/v1/invitations", json={}, headers=headers)
    again = await client.post("/v1/invitations", json={}, headers=headers)
    assert again.json() == first.json() and len((await client.get("/v1/invitations")).json()) == 1


async def test_a_key_gives_no_role_with_scopes_that_it_lacks(house: House) -> None:
    await add(house, ANNA, "reader")
    async with await house.client("admin", *SCOPES_OF["reader"]) as client:
        assert (await client.post("/v1/invitations", json={"role": "owner"})).status_code == 403
        assert (await client.post("/v1/invitations", json={"role": "reader"})).status_code == 201
        assert (await client.patch(f"/v1/people/{ANNA}", json={"role": "owner"})).status_code == 403
        assert (await client.patch(f"/v1/people/{ANNA}", json={"disabled": True})).status_code == 200


async def test_a_person_is_changed_and_removed(house: House, client: httpx.AsyncClient) -> None:
    await add(house, ANNA, "reader", hashed="a hash")
    changed = await client.patch(f"/v1/people/{ANNA}", json={"name": " Anna ", "role": "editor", "disabled": True})
    assert changed.json() == (await client.get(f"/v1/people/{ANNA}")).json()
    assert changed.json() == {
        "id": ANNA,
        "name": "Anna",
        "email": "a1@example.com",
        "role": "editor",
        "issuer": "",
        "totp": False,
        "disabled": True,
        "created_at": changed.json()["created_at"],
    }
    assert (await client.delete(f"/v1/people/{ANNA}")).status_code == 204
    assert (await client.get(f"/v1/people/{ANNA}")).status_code == 404


@pytest.mark.parametrize("name", [" ", "\u202e", ""])
async def test_a_name_without_letters_is_refused(house: House, client: httpx.AsyncClient, name: str) -> None:
    await add(house, ANNA)
    assert (await client.patch(f"/v1/people/{ANNA}", json={"name": name})).status_code == 400


async def test_of_two_owners_who_remove_each_other_at_once_one_stays(house: House, client: httpx.AsyncClient) -> None:
    for id in (ANNA, BO):
        await add(house, id)
    found: list[int] = []

    async def remove(id: str) -> None:
        found.append((await client.delete(f"/v1/people/{id}")).status_code)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(remove, ANNA)
        nursery.start_soon(remove, BO)
    assert sorted(found) == [204, 409]
    assert len(await house.storage.accounts.all()) == 1


@pytest.mark.parametrize("change", [{"role": "reader"}, {"disabled": True}])
async def test_the_last_owner_stays_unless_the_service_has_a_password(
    house: House, client: httpx.AsyncClient, change: dict[str, object]
) -> None:
    await add(house, ANNA)
    assert (await client.patch(f"/v1/people/{ANNA}", json=change)).status_code == 409
    set_password(house.storage.disk, Password("a hash", NOW))
    assert (await client.patch(f"/v1/people/{ANNA}", json=change)).status_code == 200


async def test_activity_is_listed_in_pages_and_by_filters(house: House, client: httpx.AsyncClient) -> None:
    for number in range(5):
        one = Activity(
            id=f"019db0a4-a060-7000-8000-00000000000{number}",
            at=Millis(NOW + number * 1000),
            person=ANNA if number % 2 else "",
            by="Anna",
            operation="PATCH /v1/alerts/{id}",
            object=f"/v1/alerts/{number // 2}",
            after=b'{"name":"Prices"}',
        )
        await house.storage.accounts.record(one)

    async def numbers(path: str) -> tuple[list[int], str]:
        answer = await client.get(path)
        return [int(one["id"][-1]) for one in answer.json()], answer.links.get("next", {}).get("url", "")

    found, onward = await numbers("/v1/activity?limit=3")
    assert found == [4, 3, 2]
    assert (await numbers(onward)) == ([1, 0], "")
    assert (await numbers(f"/v1/activity?person={ANNA}"))[0] == [3, 1]
    assert (await numbers("/v1/activity?object=/v1/alerts/1"))[0] == [3, 2]
    since = (await client.get("/v1/activity?limit=2")).json()[-1]["at"]
    assert (await numbers(f"/v1/activity?since={since}"))[0] == [4, 3]
    assert (await client.get("/v1/activity?since=yesterday")).status_code == 400
    assert (await client.get("/v1/activity?since=")).status_code == 400
