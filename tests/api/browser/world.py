"""A service with data for every page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.api.browser.origin import Answer, Entry, Origin
from tests.api.browser.service import Service
from tests.support.waiting import wait_until

TICKETS = (
    "The ferry from Sandwick leaves at seven, and then every two hours until the evening, the whole year round.",
    "Single, adult: 18.00 euro. Bicycles travel free of charge outside of July and August, as far as there is room.",
    "Dogs are welcome on deck; in the saloon they have to be on a leash and quiet, or the mate will have a word.",
    "In a storm warning of force nine or more the ferry stays in harbour until the sea has calmed down again.",
)
NEW_PRICE = "From May on the price of a season ticket includes a bicycle, on every crossing until the end of September."
NEWS = (
    ("Regeringen föreslår ändrade upphandlingsregler för kommunerna", "Förslaget remitteras till april."),
    ("東京湾の潮位観測データが新しい形式で公開されました", "気象庁は潮位の観測データを一分ごとに公開します。"),
    ("نشرت الهيئة جدول المد والجزر الجديد لموانئ الخليج", "يسري الجدول ابتداء من مطلع الشهر القادم."),
    ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft tagt", "In Wien."),
    ("Price of a day ticket falls to 17.90", "From Monday the day ticket costs less: 17.90 instead of 19.90."),
    ("Sanderlings counted: 4,212 on the north beach", "More than in any winter since the count began."),
    ("Release 1.4.2", "Mends the tide table of Aberdeen, which was an hour late in summer."),
)
MANY = 30
LABELS = {"delivered": "a bin to look at", "failing": "the price desk", "disabled": "the newsroom's archive"}


@dataclass
class World:
    """The paths of the pages, by name."""

    service: Service
    origin: Origin
    pages: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    published: str = ""
    """The address of a publication."""


def furnish(service: Service, origin: Origin) -> World:
    """Fill a service: healthy and failing sources, events in many scripts, alerts, destinations, bins and keys."""
    world = World(service, origin)
    _watch(world)
    _tell(world)
    _deliver(world)
    ids = world.ids
    world.pages |= {
        "today": "/",
        "first steps": "/first-steps",
        "sources": "/sources",
        "sources, none found": "/sources?q=nothing-like-it",
        "sources, deleted": "/sources/deleted",
        "tags": "/sources/tags",
        "add": "/sources/add",
        "import": "/sources/import",
        "source, changed": f"/sources/{ids['tickets']}?text=leash#why",
        "source, failing": f"/sources/{ids['gone']}",
        "source, chosen from": f"/sources/{ids['tickets']}/pick",
        "source, edited": f"/sources/{ids['tickets']}/edit",
        "source, versions compared": f"/sources/{ids['tickets']}/compare?show=text",
        "alerts": "/alerts",
        "alert": f"/alerts/{ids['alert']}",
        "alert, new": "/alerts/new",
        "alert, edited": f"/alerts/{ids['alert']}/edit",
        "destinations": "/destinations",
        "destination, failing": f"/destinations/{ids['failing']}",
        "destination, new": "/destinations/new",
        "destination, edited": f"/destinations/{ids['failing']}/edit",
        "destination, disabled": f"/destinations/{ids['disabled']}",
        "deliveries": f"/destinations/{ids['failing']}/deliveries",
        "templates": "/templates",
        "template": "/templates/gtm-competitor-watch",
        "publications": "/publications",
        "publication": f"/publications/{ids['publication']}",
        "publication, new": f"/publications/new?source={ids['tickets']}",
        "publication, edited": f"/publications/{ids['publication']}/edit",
        "published": world.published.removeprefix(service.url),
        "published, event": f"{world.published.removeprefix(service.url)}/{ids['event']}",
        "bins": "/webhook-bins",
        "bin": f"/webhook-bins/{ids['bin']}",
        "capture": f"/webhook-bins/{ids['bin']}/captures/1",
        "event, changed": f"/events/{ids['event']}",
        "event of a feed": f"/events/{ids['entry']}",
        "stream": "/stream",
        "stream, none": "/stream?keyword=zebra",
        "reader": "/stream/read",
        "reader, open": f"/stream/read?entry={ids['entry']}",
        "keys": "/keys",
        "key, new": "/keys/new",
        "key": f"/keys/{service.key_id}",
        "system": "/system",
        "system, none found": "/system?filter=zebra",
        "settings": "/settings",
        "more": "/more",
        "offline": "/offline",
        "not found": "/sources/01a00000-0000-7000-8000-000000000000",
    }
    return world


def _watch(world: World) -> None:
    service, origin = world.service, world.origin
    entries = [Entry(title, text, f"https://news.example/{number}") for number, (title, text) in enumerate(NEWS)]
    feed = origin.feed("/nyheter", "Nyheter från kusten", entries)
    page = origin.page("/tickets", "The Sandwick ferry", TICKETS)
    gone = origin.feed("/gone", "Gone", entries[:1])
    world.ids["feed"] = service.add(feed, title="Nyheter från kusten", tags=["region:se"], backfill=len(NEWS))["id"]
    world.ids["tickets"] = service.add(page, title="Day tickets of the ferry", tags=["prices"], schedule=None)["id"]
    world.ids["gone"] = service.add(gone, title="Kustverkets väderobservationer, Öresund och södra Kattegatt")["id"]
    quiet = [
        {"url": origin.feed(f"/beach/{number}/notes.xml", f"Notes of beach {number}", entries[:1]), "schedule": "12h"}
        for number in range(MANY)
    ]
    for start in range(0, MANY, 20):
        service.ask("POST", "/v1/sources", {"sources": quiet[start : start + 20]})
    origin.says["/gone"] = Answer("<h1>Out of order</h1>", 503, "Out of order")


def _tell(world: World) -> None:
    service, ids = world.service, world.ids
    for price, dogs in (("19.50", "on a leash"), ("21.70", "on a short leash")):
        paragraphs = [one.replace("18.00", price).replace("on a leash", dogs) for one in TICKETS]
        world.origin.page("/tickets", "The Sandwick ferry", [*paragraphs, f"Day ticket: {price} euro, for all zones."])
        service.look(ids["tickets"])
    for _ in range(2):
        service.look(ids["gone"])
    wait_until(lambda: len(_events(world)) > len(NEWS))
    events = _events(world)
    ids["event"] = next(event["id"] for event in events if event["source_type"] == "html")
    ids["entry"] = next(event["id"] for event in events if event["title"].startswith("Price of a day"))


def _deliver(world: World) -> None:
    service, origin, ids = world.service, world.origin, world.ids
    ids["alert"] = service.ask("POST", "/v1/alerts", {"name": "Prices", "filter_query": "price OR ticket -careers"})[
        "id"
    ]
    for query, language in (("upphandling OR remiss", "sv"), ("潮位", "simple"), ('"vice president" OR CEO', "en")):
        service.ask("POST", "/v1/alerts", {"filter_query": query, "language": language})
    made = service.ask("POST", "/v1/publications", {"title": "Priser på färjan", "tags": ["prices", "region:se"]})
    ids["publication"], world.published = made["id"], made["url"]
    bin = service.ask("POST", "/v1/webhook-bins", {})
    origin.says["/hooks"] = Answer("<b>We are closed</b> until Monday", 503, media="text/plain")
    ids["bin"] = bin["id"]
    origin.says["/closed"] = Answer("Gone for good", 410, media="text/plain")
    hooks = {"delivered": bin["url"], "failing": f"{origin.url}/hooks", "disabled": f"{origin.url}/closed"}
    for name, url in hooks.items():
        body = {"url": url, "label": LABELS[name]}
        ids[name] = service.ask("POST", f"/v1/alerts/{ids['alert']}/destinations", body)["id"]
        service.ask("POST", f"/v1/destinations/{ids[name]}/test", {})
    # The dogs stay as they were: a text that returns is in doubt, and a second check follows half a minute later.
    price = [one.replace("18.00", "17.90").replace("on a leash", "on a short leash") for one in TICKETS]
    price += ["Day ticket: 24.90 euro, for all zones.", NEW_PRICE]
    origin.page("/tickets", "The Sandwick ferry", price)
    service.look(ids["tickets"])
    wait_until(lambda: len(service.ask("GET", f"/v1/webhook-bins/{ids['bin']}/captures")) > 1)
    wait_until(lambda: len(service.ask("GET", f"/v1/destinations/{ids['failing']}/deliveries")) > 0)


def _events(world: World) -> list[dict[str, Any]]:
    return list(world.service.ask("GET", "/v1/events?limit=50&order=desc")["events"])
