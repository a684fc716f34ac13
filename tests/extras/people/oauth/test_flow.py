"""From the address of the service to the first call of a tool; codes, tokens, renewal, the end of a grant."""

from __future__ import annotations

import msgspec
import pytest
import trio

from storage.records.access import CODE_LIFE, TOKEN_LIFE
from tests.api.house import BASE_URL, House
from tests.extras.people.oauth.app import BACK, MCP, VERIFIER, App, person, signed_in

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def test_an_app_finds_its_way_from_the_address_to_the_first_call(house: House) -> None:
    app, browser = App(house), await signed_in(house)
    refused = await app.client.post("/mcp", json={})
    metadata = f"{BASE_URL}/.well-known/oauth-protected-resource/mcp"
    assert refused.headers["WWW-Authenticate"] == f'Bearer resource_metadata="{metadata}"'
    resource = (await app.client.get(metadata)).json()
    assert (resource["resource"], resource["authorization_servers"]) == (MCP, [BASE_URL])
    server = (await app.client.get("/.well-known/oauth-authorization-server")).json()
    assert server["issuer"] == BASE_URL
    assert server["code_challenge_methods_supported"] == ["S256"]
    registered = await app.register(token_endpoint_auth_method="client_secret_post")
    assert registered.json()["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in registered.json()
    back = await app.consent(browser)
    assert (back["to"], back["state"], back["iss"]) == (BACK, "s t&te", BASE_URL)
    answer = await app.exchange(back["code"])
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json()["scope"] == "stream:read sources:read alerts:read"
    assert "What is watched" not in (await app.tool("sources")).text
    assert (await app.tool("sources")).json()["result"].get("isError") is None


async def test_another_address_of_the_api_names_the_metadata_of_the_whole(house: House) -> None:
    refused = await house.stranger(Authorization="Bearer svc_x").get("/v1/sources")
    expected = f'Bearer error="invalid_token", resource_metadata="{BASE_URL}/.well-known/oauth-protected-resource"'
    assert refused.headers["WWW-Authenticate"] == expected
    whole = (await house.stranger().get("/.well-known/oauth-protected-resource")).json()
    assert whole["resource"] == BASE_URL
    assert "admin" not in whole["scopes_supported"]


async def test_a_token_opens_its_resource_and_nothing_else(house: House) -> None:
    app = App(house)
    await app.connect(await signed_in(house))
    for path in ("/v1/sources", "/v1/apps", "/metrics", "/v1/stream"):
        assert (await app.ask("GET", path)).status_code == 401, path
    whole = App(house, resource=BASE_URL)
    await whole.connect(await signed_in(house), "stream:read sources:read")
    assert (await whole.ask("GET", "/v1/sources")).status_code == 200
    assert (await whole.tool("sources")).status_code == 200


async def test_an_app_that_names_no_resource_gets_the_tools_only(house: House) -> None:
    app = App(house, resource="")
    await app.connect(await signed_in(house))
    assert (await app.tool("sources")).status_code == 200
    assert (await app.ask("GET", "/v1/sources")).status_code == 401


async def test_an_app_with_too_few_scopes_learns_which_to_ask_for(house: House) -> None:
    app = App(house, resource=BASE_URL)
    await app.connect(await signed_in(house), "sources:read")
    refused = await app.ask("POST", "/v1/sources", json={"url": "https://a.test/"})
    assert refused.status_code == 403
    assert 'error="insufficient_scope", scope="sources:read sources:write"' in refused.headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"code_verifier": "w" * 43},
        {"code_verifier": None},
        {"code_verifier": "short"},
        {"client_id": "another"},
        {"client_id": None},
        {"redirect_uri": f"{BACK}/more"},
        {"code": "another"},
    ],
    ids=str,
)
async def test_a_code_is_worth_nothing_with(house: House, wrong: dict[str, str | None]) -> None:
    app = App(house)
    await app.register()
    back = await app.consent(await signed_in(house))
    refused = await app.exchange(**{"code": back["code"], **wrong})
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    if "code" not in wrong:
        assert (await app.exchange(back["code"])).status_code == 400, "a guess uses the code up"


async def test_a_code_of_another_resource_is_refused(house: House) -> None:
    app = App(house)
    await app.register()
    back = await app.consent(await signed_in(house))
    refused = await app.exchange(back["code"], resource=BASE_URL)
    assert refused.json()["error"] == "invalid_target"


async def test_oauth_2_1_needs_no_redirect_uri_with_the_code(house: House) -> None:
    app = App(house)
    await app.register()
    back = await app.consent(await signed_in(house))
    assert (await app.exchange(back["code"], redirect_uri=None)).status_code == 200


async def test_a_code_ends_after_a_minute(house: House) -> None:
    app = App(house)
    await app.register()
    back = await app.consent(await signed_in(house))
    await trio.sleep(CODE_LIFE / 1000)
    assert (await app.exchange(back["code"])).json()["error"] == "invalid_grant"


async def test_a_code_used_twice_ends_the_tokens(house: House) -> None:
    app = App(house)
    await app.register()
    back = await app.consent(await signed_in(house))
    assert (await app.exchange(back["code"])).status_code == 200
    assert (await app.exchange(back["code"])).status_code == 400
    assert (await app.tool("sources")).status_code == 401


async def test_an_access_token_ends_after_an_hour_and_a_refresh_token_makes_another(house: House) -> None:
    app = App(house)
    first = await app.connect(await signed_in(house))
    await trio.sleep(TOKEN_LIFE / 1000 - 1)
    assert (await app.tool("sources")).status_code == 200
    await trio.sleep(1)
    assert (await app.tool("sources")).status_code == 401
    assert (await app.renew()).status_code == 200
    assert app.tokens["refresh_token"] != first["refresh_token"]
    assert (await app.tool("sources")).status_code == 200


async def test_an_old_refresh_token_ends_everything(house: House) -> None:
    app = App(house)
    first = await app.connect(await signed_in(house))
    await app.renew()
    assert (await app.renew(first["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await app.tool("sources")).status_code == 401
    assert (await app.renew()).status_code == 400


async def test_a_renewal_may_narrow_and_never_widen(house: House) -> None:
    app = App(house)
    await app.connect(await signed_in(house))
    assert (await app.renew(scope="stream:read admin")).json()["error"] == "invalid_scope"
    assert (await app.renew(scope="stream:read")).json()["scope"] == "stream:read"
    refused = (await app.tool("sources")).json()["result"]
    assert refused["isError"]
    assert (await app.renew()).json()["scope"] == "stream:read sources:read alerts:read"


async def test_another_app_cannot_renew(house: House) -> None:
    app = App(house)
    await app.connect(await signed_in(house))
    assert (await app.renew(client_id="another")).json()["error"] == "invalid_grant"
    assert (await app.renew(resource=BASE_URL)).json()["error"] == "invalid_target"


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
async def test_an_app_can_revoke_its_tokens(house: House, which: str) -> None:
    app = App(house)
    await app.connect(await signed_in(house))
    for token in ("nonsense", "svc_" + "x" * 43, app.tokens[which], app.tokens[which]):
        assert (await app.revoke(token)).status_code == 200
    assert (await app.tool("sources")).status_code == 401
    assert (await app.renew()).status_code == 400


async def test_a_plain_key_survives_revocation(house: House) -> None:
    key = await house.key()
    await App(house, id="x").revoke(key)
    assert (await house.stranger(Authorization=f"Bearer {key}").get("/v1/sources")).status_code == 200


async def test_a_lost_role_narrows_a_token_at_its_next_request(house: House) -> None:
    app, browser = App(house), await person(house, "anna", "editor")
    await app.connect(browser, "stream:read sources:read sources:write")
    anna = await house.storage.accounts.get("anna")
    assert anna is not None
    await house.storage.accounts.change(msgspec.structs.replace(anna, role="reader"), password_set=True)
    refused = (await app.tool("watch", url="https://a.test/")).json()["result"]
    assert refused["isError"]
    assert "sources:write" in refused["content"][0]["text"]
    assert (await app.renew()).json()["scope"] == "stream:read sources:read"
    await house.storage.accounts.change(msgspec.structs.replace(anna, disabled=True), password_set=True)
    assert (await app.tool("sources")).status_code == 401
    assert (await app.renew()).status_code == 400


async def test_a_stream_ends_within_a_second_of_the_disconnection(house: House, nursery: trio.Nursery) -> None:
    app, owner = App(house, resource=BASE_URL), await house.client()
    await app.connect(await signed_in(house))
    (found,) = (await owner.get("/v1/apps")).json()
    headers = {"Authorization": f"Bearer {app.tokens['access_token']}"}
    async with app.client.stream("GET", "/v1/stream", headers=headers) as stream:
        assert stream.status_code == 200
        assert (await owner.delete(f"/v1/apps/{found['id']}")).status_code == 204
        with trio.fail_after(1):
            async for _ in stream.aiter_bytes():
                pass


@pytest.mark.parametrize(
    ("path", "sent", "error"),
    [
        ("/oauth/token", {"data": {"grant_type": "password"}}, "unsupported_grant_type"),
        ("/oauth/token", {"json": {}}, "invalid_request"),
        ("/oauth/token", {"content": b"a=1&a=2", "headers": FORM}, "invalid_request"),
        ("/oauth/token", {"content": b"a=%ff", "headers": FORM}, "invalid_request"),
        ("/oauth/register", {"data": {"a": "1"}}, "invalid_request"),
        ("/oauth/register", {"json": {"redirect_uris": []}}, "invalid_client_metadata"),
        (
            "/oauth/register",
            {"json": {"redirect_uris": [BACK], "grant_types": ["implicit"]}},
            "invalid_client_metadata",
        ),
    ],
)
async def test_a_malformed_request_gets_an_error_that_apps_know(
    house: House, path: str, sent: dict[str, object], error: str
) -> None:
    answer = await house.stranger().post(path, **sent)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert VERIFIER not in answer.text


async def test_a_body_is_bounded_and_methods_are_fixed(house: House) -> None:
    client = house.stranger()
    large = await client.post("/oauth/register", content=b" " * 20_000, headers={"Content-Type": "application/json"})
    assert large.status_code == 413
    refused = await client.get("/oauth/token")
    assert (refused.status_code, refused.headers["Allow"]) == (405, "POST")
    assert (await client.head("/.well-known/oauth-authorization-server")).status_code == 200


async def test_an_address_registers_ten_apps_and_then_one_a_minute(house: House) -> None:
    app = App(house)
    assert [(await app.register()).status_code for _ in range(11)] == [201] * 10 + [429]
    await trio.sleep(60)
    assert (await app.register()).status_code == 201
