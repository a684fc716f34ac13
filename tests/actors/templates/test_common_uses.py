"""Each template of a common use over a scripted page: the change is an event that its alerts match."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import NamedTuple

import pytest
import trio

from actors.query import Texts, decode_event
from actors.templates.instantiation import Templates
from actors.templates.template import built_in, read_parameters
from api.nouns.why import meets
from tests.actors.sources.harness import SITE, page, rss, watching
from tests.support.in_loop import Stored

TEXT = "Some words of its own that stay as they are, so that the page has enough content to be watched."


def shop(price: str, stock: str) -> bytes:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": f"https://schema.org/{stock}"}
    data = json.dumps({"@context": "https://schema.org", "@type": "Product", "name": "Kettle", "offers": offer})
    words = "In stock" if stock == "InStock" else "Sold out"
    body = f"<main><h1>Kettle</h1><p>{TEXT}</p><p>Price: €{price}</p><p>{words}</p></main>"
    head = f"<title>Kettle</title><script type='application/ld+json'>{data}</script>"
    return f"<html><head>{head}</head><body>{body}".encode()


class Use(NamedTuple):
    """A use: the values besides the address, the page before and after, and the alerts that match the change."""

    before: bytes
    after: bytes
    params: Mapping[str, list[str]] = {}
    alerts: int = 1


def listed(old: str, new: str, **params: list[str]) -> Use:
    return Use(page(TEXT, old), page(TEXT, new, old), params)


USES = {
    "price-below": Use(shop("349.00", "InStock"), shop("289.00", "InStock"), {"below": ["300"]}),
    "back-in-stock": Use(shop("349.00", "OutOfStock"), shop("349.00", "InStock")),
    "event-tickets": listed("The concert is on 3 May.", "Tickets are on sale from today, at 300 kronor."),
    "new-release": Use(page(TEXT, "Latest version: 2.4.1"), page(TEXT, "Latest version: 2.5.0")),
    "changelog": listed("It starts faster.", "Breaking: the option --old is removed.")._replace(alerts=2),
    "status-page": listed("All systems operate normally.", "Incident: deliveries are delayed in one region."),
    "api-value": Use(
        b'{"quota": {"used": 812, "of": 2000}}', b'{"quota": {"used": 1204, "of": 2000}}', {"above": ["1000"]}
    ),
    "exchange-rate": Use(page(TEXT, "1 EUR = 11.32 SEK"), page(TEXT, "1 EUR = 11.61 SEK"), {"above": ["11,50"]}),
    "regulator-news": listed(
        "The authority opens a new office.", "The bank pays a sanction fee of two million.", words=["sanction", "fine"]
    ),
    "tender-list": listed("School furniture, closes in May.", "Catering for hospitals.", words=["catering"]),
    "job-list": listed("Cook wanted in Visby.", "Engineer wanted in Slite.", words=["designer", "engineer"]),
    "terms-changed": Use(page(TEXT, "Disputes go to a court."), page(TEXT, "Disputes go to arbitration.")),
    "expiry-date": Use(page(TEXT, "Valid until: 2027-03-01"), page(TEXT, "Valid until: 2029-03-01")),
    "keyword-in-feed": Use(rss("bread"), rss("ferry|The ferry is late.", "bread"), {"words": ["ferry"]}),
    "weather-warning": listed("No warnings for Skåne.", "Yellow warning on Gotland.", words=["Öland", "Gotland"]),
}


@pytest.mark.parametrize("id", USES)
async def test_the_change_of_a_use_is_an_event_that_its_alerts_match(id: str, autojump_clock: object) -> None:
    use, url = USES[id], f"https://{SITE}/watched"
    async with watching() as (service, origin):
        origin.bodies["/watched"] = use.before
        world = replace(service.world, entropy=Random(1).randbytes)
        templates = Templates(world, "https://registry.example", service.storage, service.registry_box, built_in())
        template = templates.catalogue.get(id)
        assert template is not None
        values = read_parameters(template, {template.parameters[0].key: [url], **use.params})
        report = await templates.instantiate(template, values, alerts=True)
        assert report.complete and [one.status for one in report.sources] == ["attached_new"], report
        origin.bodies["/watched"] = use.after

        def reported() -> list[Stored]:
            return [event for event in service.disk.events() if template.tag in event.tags]

        for _ in range(24):  # a day at most
            if not reported():
                await trio.sleep(3600)
        await trio.sleep(4 * 3600)  # some more checks, which report nothing
        events = reported()
        assert len(events) == 1, await service.titles()
        alerts = await service.storage.alerts.all()
        matching = [alert.name for alert in alerts if meets(alert, Texts(decode_event(events[0].body)))]
        assert len(matching) == use.alerts == len(alerts), (matching, [alert.filter_query for alert in alerts])


def test_there_is_a_use_for_each_template_of_an_address() -> None:
    """So that no template is added without one."""
    assert {one.id for one in built_in() if any(each.type == "url" for each in one.parameters)} == set(USES)


async def test_another_amount_is_another_alert_and_another_page_joins_it(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        origin.bodies |= {"/a": shop("349.00", "InStock"), "/b": shop("99.00", "InStock")}
        world = replace(service.world, entropy=Random(1).randbytes)
        templates = Templates(world, "https://registry.example", service.storage, service.registry_box, built_in())
        template = templates.catalogue.get("price-below")
        assert template is not None
        for path, below in (("a", "300"), ("b", "300"), ("a", "250")):
            values = read_parameters(template, {"page": [f"https://{SITE}/{path}"], "below": [below]})
            await templates.instantiate(template, values, alerts=True)
        alerts = {
            alert.name: (alert.filter_query, len(alert.source_ids)) for alert in await service.storage.alerts.all()
        }
        assert alerts == {"Price below 300": ("price<300", 2), "Price below 250": ("price<250", 1)}
        foreseen = await templates.preview(template, values)
        assert list(foreseen.alerts) == ["below/250"] and foreseen.template.alerts[0].query == "price<250"
