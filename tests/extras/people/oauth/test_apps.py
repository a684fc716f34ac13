"""Connected apps: each person sees and ends their own, owners all; keys and apps likewise in the API."""

from __future__ import annotations

from hashlib import sha256

import trio

from storage.records.access import ApiKey
from tests.api.house import BASE_URL, House
from tests.extras.people.oauth.app import App, person, signed_in
from tests.support.build import NOW


async def test_a_person_sees_and_ends_their_own_apps(house: House) -> None:
    anna, eva = await person(house, "anna", "reader"), await person(house, "eva")
    hers, other = App(house, name="Hers"), App(house, name="Other")
    await hers.connect(anna)
    await other.connect(eva)
    await anna.get("/apps")
    assert "Hers" in anna.text
    assert "Other" not in anna.text
    assert "read all events, live and past" in anna.text.lower()
    (grant,) = [one for one in await house.storage.oauth.grants(NOW) if one.app == "Other"]
    await anna.post(f"/apps/{grant.id}/disconnect")
    assert anna.answer.status_code == 404
    assert (await other.tool("sources")).status_code == 200
    (mine,) = [one for one in await house.storage.oauth.grants(NOW) if one.app == "Hers"]
    await anna.get("/apps")
    await anna.submit(f"/apps/{mine.id}/disconnect")
    assert "Hers is disconnected." in anna.text
    assert (await hers.tool("sources")).status_code == 401


async def test_an_owner_sees_and_ends_all(house: House) -> None:
    anna, owner = await person(house, "anna"), await signed_in(house)
    app = App(house)
    await app.connect(anna)
    await owner.get("/apps")
    assert "Anna" in owner.text
    (grant,) = await house.storage.oauth.grants(NOW)
    await owner.submit(f"/apps/{grant.id}/disconnect")
    assert (await app.renew()).status_code == 400


async def test_the_page_without_apps_has_the_address_for_assistants(house: House) -> None:
    owner = await signed_in(house)
    await owner.get("/apps")
    assert "No connected apps" in owner.text
    assert f"{BASE_URL}/mcp" in owner.answer.text


async def test_access_tokens_are_no_keys_on_the_page_of_keys(house: House) -> None:
    owner, app = await signed_in(house), App(house, name="Grantee")
    await app.connect(owner)
    await owner.get("/keys")
    assert "Grantee" not in owner.text
    (grant,) = await house.storage.oauth.grants(NOW)
    await owner.get(f"/keys/{grant.id}")
    assert owner.answer.status_code == 404


async def test_a_key_sees_the_apps_of_its_person_and_an_app_itself(house: House) -> None:
    anna, eva = await person(house, "anna"), await person(house, "eva")
    apps = [App(house, name=name, resource=BASE_URL) for name in ("First", "Second", "Third")]
    for app, browser in zip(apps, (anna, anna, eva), strict=True):
        await app.connect(browser)
        await trio.sleep(1)  # ids within a millisecond have no order
    text = "svc_" + "a" * 43
    key = ApiKey("of anna", "Key", text[:12], sha256(text.encode()).hexdigest(), ("stream:read",), NOW, person="anna")
    await house.storage.keys.add(key)
    hers = house.stranger(Authorization=f"Bearer {text}")

    def named(rows: list[dict[str, str]]) -> list[str]:
        return [row["app"] for row in rows]

    assert named((await hers.get("/v1/apps")).json()) == ["Second", "First"]
    assert named((await apps[0].ask("GET", "/v1/apps")).json()) == ["First"]
    plain, admin = await house.client("stream:read"), await house.client("stream:read", "admin")
    assert (await plain.get("/v1/apps")).json() == []
    rows = (await admin.get("/v1/apps")).json()
    assert named(rows) == ["Third", "Second", "First"]
    third = f"/v1/apps/{rows[0]['id']}"
    assert (await hers.delete(third)).status_code == 404
    assert (await plain.delete(third)).status_code == 404
    assert (await apps[0].ask("DELETE", third)).status_code == 404
    assert (await admin.delete(third)).status_code == 204
    assert (await apps[2].ask("GET", "/v1/apps")).status_code == 401
    assert (await hers.delete(f"/v1/apps/{rows[1]['id']}")).status_code == 204


async def test_the_last_use_of_a_token_is_shown(house: House) -> None:
    app, admin = App(house), await house.client()
    await app.connect(await signed_in(house))
    await house.storage.keys.touch({one.id: NOW for one in await house.storage.oauth.grants(NOW)})
    (row,) = (await admin.get("/v1/apps")).json()
    assert row["last_used_at"] is not None
    assert row["resource"] == f"{BASE_URL}/mcp"
