"""Error messages after the guard refuses an address (S11)."""

from __future__ import annotations

from contextlib import aclosing

import httpx
import pytest

from actors.egress.guard import Guard
from actors.egress.traffic import log_refusal
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from api.problems import FieldError, Refusal, shown
from tests.api.dashboard.browser import signed_in
from tests.api.house import House

HOOK = {"kind": "webhook", "url": "https://inside.test/in", "delivery_mode": "instant"}


async def test_x1_s11_a_refusal_names_the_rule_and_not_the_address_that_a_name_leads_to(
    house: House, client: httpx.AsyncClient
) -> None:
    house.resolver.names["inside.test"] = ("10.1.2.3",)
    alert = (await client.post("/v1/alerts", json={"filter_query": "x"})).json()["id"]
    answer = await client.post(f"/v1/alerts/{alert}/destinations", json=HOOK)
    assert answer.status_code == 422 and "(rule: address-private)" in answer.json()["detail"]
    assert "10.1.2.3" not in answer.text
    (told,) = [fields for event, fields in house.logs if event == "egress.refused"]
    assert (told["host"], told["rule"]) == ("inside.test", "address-private")
    assert "SANDERLING_ALLOW_NETWORKS=10.1.2.3/32" in told["says"]


async def test_s11_a_refused_address_from_the_request_is_named_with_the_setting_that_opens_it(
    house: House, client: httpx.AsyncClient
) -> None:
    alert = (await client.post("/v1/alerts", json={"filter_query": "x"})).json()["id"]
    answer = await client.post(f"/v1/alerts/{alert}/destinations", json={**HOOK, "url": "https://10.1.2.3/in"})
    assert "SANDERLING_ALLOW_NETWORKS=10.1.2.3/32 would open it" in answer.json()["detail"]


async def test_s11_no_tier_reveals_the_address_of_a_name(house: House) -> None:
    """A failed check is stored in the source's health, which callers read."""
    house.resolver.names["inside.test"] = ("10.1.2.3",)
    heard: list[str] = []
    guard = Guard(house.resolver, None, (), on_refused=lambda host, refusal: heard.append(refusal.inside))  # type: ignore[arg-type]
    with pytest.raises(UrlRefused) as caught:
        await guard.check(parse_url("https://inside.test/"))
    assert "10.1.2.3" not in caught.value.words and "10.1.2.3" in caught.value.words_inside
    assert "10.1.2.3" in heard[0]
    log_refusal(house.context.world, "inside.test", caught.value)
    assert "10.1.2.3" in repr(house.logs)


async def test_s11_the_owner_reads_the_address_on_the_dashboard(house: House, autojump_clock: object) -> None:
    inside = UrlRefused("address-private", "inside.test is not public", "inside.test: 10.1.2.3 is not public")
    house.registry.refusals["https://inside.test/"] = inside
    browser = await signed_in(house)
    async with aclosing(browser.client):
        await browser.get("/sources/add")
        await browser.submit("/sources/look", {"urls": "https://inside.test/"})
        assert "10.1.2.3 is not public" in browser.text


def test_x20_no_problem_document_has_a_secret_of_a_url() -> None:
    url = "https://anna:pl4nt3d@a.test/?page=1&token=pl4nt3d"
    refused = Refusal("unprocessable", f"{url} is none", [FieldError("body.url", f"{url} is none", shown(url))])
    written = refused.encode("https://sanderling.test", "/v1/sources").decode()
    assert "pl4nt3d" not in written
    assert "https://REDACTED@a.test/?page=1&token=REDACTED is none" in written
