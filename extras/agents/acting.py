"""The tools that change something: sources, alerts and destinations. The key's scopes decide which of them work."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from extras.agents.protocol import Refused, Result
from extras.agents.quoting import quoted
from extras.agents.within import Service, Text, tool

ALERTS, DESTINATIONS, SOURCES = "/v1/alerts", "/v1/destinations", "/v1/sources"
_Url = Annotated[str, Meta(max_length=2_000)]
_Name = Annotated[str, Meta(max_length=200)]
_Query = Annotated[
    str,
    Meta(max_length=4_096, description="Words, or conditions: price<300, price.drop>=10%, kind:version; empty: all"),
]
_Interval = Annotated[str, Meta(max_length=20, description="A fixed interval such as 10m or 2h; empty: adaptive")]
_Selector = Annotated[str, Meta(max_length=1_000, description="A part of a page: CSS, XPath, JSONPath, a path")]
_To = Annotated[
    str, Meta(max_length=200, description="An existing destination: its id, its label or a part of it, such as Slack")
]


class WatchArguments(Struct, forbid_unknown_fields=True):
    """The URL to watch, and its settings."""

    url: _Url
    title: Text = ""
    tags: Annotated[list[Text], Meta(max_length=20)] = []
    selector: _Selector = ""
    schedule: _Interval = ""


class ChangedSource(Struct, forbid_unknown_fields=True):
    """A source, and what to change; absent fields stay."""

    source: _Name
    title: Text | UnsetType = UNSET
    tags: Annotated[list[Text], Meta(max_length=20)] | UnsetType = UNSET
    selector: _Selector | UnsetType = UNSET
    schedule: _Interval | UnsetType = UNSET
    enabled: Annotated[bool, Meta(description="false pauses it")] | UnsetType = UNSET


class OneSource(Struct, forbid_unknown_fields=True):
    """Which source."""

    source: _Name


class Nothing(Struct, forbid_unknown_fields=True):
    """No arguments."""


class NewAlert(Struct, forbid_unknown_fields=True):
    """When to notify, about which source, and where."""

    query: _Query
    source: Annotated[str, Meta(max_length=200, description="Its id or a part of its name; empty: all")] = ""
    name: _Name = ""
    notify: _To | Literal[""] = ""


class ChangedAlert(Struct, forbid_unknown_fields=True):
    """An alert, and what to change; absent fields stay."""

    alert: _Name
    query: _Query | UnsetType = UNSET
    name: _Name | UnsetType = UNSET
    enabled: Annotated[bool, Meta(description="false pauses it")] | UnsetType = UNSET


class OneAlert(Struct, forbid_unknown_fields=True):
    """Which alert."""

    alert: _Name


class NewDestination(Struct, forbid_unknown_fields=True):
    """Where an alert's matches go. `destination_kinds` has the kinds and their options."""

    alert: _Name
    kind: Annotated[str, Meta(max_length=40, description="webhook, slack, ntfy, ...")] = "webhook"
    url: _Url = ""
    options: dict[str, Annotated[str, Meta(max_length=4_096)]] = {}
    label: _Name = ""


class ChangedDestination(Struct, forbid_unknown_fields=True):
    """A destination, and what to change; absent fields stay."""

    destination: _Name
    label: _Name | UnsetType = UNSET
    delivery_mode: Literal["instant", "15min", "hourly", "daily"] | UnsetType = UNSET
    enabled: Annotated[bool, Meta(description="false pauses it")] | UnsetType = UNSET


class OneDestination(Struct, forbid_unknown_fields=True):
    """Which destination."""

    destination: _Name


def _given(asked: Struct, *names: str) -> dict[str, Any]:
    """Return the fields that were sent. Raises Refused without any."""
    found = {name: value for name in names if (value := getattr(asked, name)) is not UNSET}
    if not found:
        raise Refused(f"Name something to change: {', '.join(names)}.")
    return found


async def _watch(api: Service, asked: WatchArguments) -> Result:
    body = {"url": asked.url, "title": asked.title, "tags": asked.tags}
    body |= {name: value for name in ("selector", "schedule") if (value := getattr(asked, name))}
    answer = await api.post(SOURCES, body)
    if "detection" not in answer:  # the key may not read sources
        return Result(f"Watched as {answer['id']}.")
    return Result(f"Watched as {answer['id']}: {quoted(answer['detection']['evidence'], answer['url'], 1_000)}")


async def _change_source(api: Service, asked: ChangedSource) -> Result:
    body = _given(asked, "title", "tags", "selector", "schedule", "enabled")
    body |= {name: None for name in ("selector", "schedule") if body.get(name) == ""}
    id = await api.source(asked.source)
    await api.patch(f"{SOURCES}/{id}", body)
    return Result(f"Changed {', '.join(body)} of {id}.")


async def _stop(api: Service, asked: OneSource) -> Result:
    id = await api.source(asked.source)
    await api.delete(f"{SOURCES}/{id}")
    return Result(f"{id} is no longer watched. Its events stay. The user can restore it for ten minutes.")


async def _alerts(api: Service, asked: Nothing) -> Result:
    found = await api.get(ALERTS, limit=1_000)
    lines = [
        f"{one['id']} {quoted(one['name'], 'alert', 400)} query: {one['filter_query'] or 'everything'}" for one in found
    ]
    return Result("\n".join(lines) or "There are no alerts.")


async def _create_alert(api: Service, asked: NewAlert) -> Result:
    to = await api.named(DESTINATIONS, asked.notify) if asked.notify else None
    body: dict[str, Any] = {"filter_query": asked.query}
    body |= {"source_ids": [await api.source(asked.source)]} if asked.source else {}
    body |= {"name": asked.name} if asked.name else {}
    body |= {"destination_ids": [to["id"]]} if to else {}
    made = await api.post(ALERTS, body)
    where = f"Its matches go to {to['label']}." if to else "It has no destination yet: use add_destination."
    true = "".join(f" True already: {quoted(one['text'], one['source'], 300)}" for one in made.get("true_now", ()))
    return Result(f"Created the alert {made['id']}. {where}{true}", {"id": made["id"]})


async def _change_alert(api: Service, asked: ChangedAlert) -> Result:
    body = _given(asked, "query", "name", "enabled")
    if "query" in body:
        body["filter_query"] = body.pop("query")
    alert = await api.named(ALERTS, asked.alert)
    await api.patch(f"{ALERTS}/{alert['id']}", body)
    return Result(f"Changed the alert {alert['id']}.")


async def _delete_alert(api: Service, asked: OneAlert) -> Result:
    alert = await api.named(ALERTS, asked.alert)
    await api.delete(f"{ALERTS}/{alert['id']}")
    return Result(f"Deleted the alert {alert['id']} and its destinations.")


async def _destinations(api: Service, asked: Nothing) -> Result:
    found = await api.get(DESTINATIONS, limit=1_000)
    lines = [f"{one['id']} {one['kind']} {one['state']} {quoted(one['label'], 'label', 300)}" for one in found]
    return Result("\n".join(lines) or "There are no destinations.")


async def _kinds(api: Service, asked: Nothing) -> Result:
    lines = []
    for kind in await api.get("/v1/destination-kinds"):
        options = [f"{one['name']}{'' if one['required'] else '?'}" for one in kind["options"]]
        lines.append(f"{kind['kind']}: url is {kind['address']['label']}; options: {', '.join(options) or 'none'}")
    return Result("\n".join(lines))


async def _add_destination(api: Service, asked: NewDestination) -> Result:
    alert = await api.named(ALERTS, asked.alert)
    body: dict[str, Any] = {"kind": asked.kind, "options": asked.options}
    body |= {name: value for name in ("url", "label") if (value := getattr(asked, name))}
    made = await api.post(f"{ALERTS}/{alert['id']}/destinations", body)
    says = " Its signing secret is not shown here; the user makes another in the dashboard."
    secret = says if "secret" in made else ""
    return Result(f"Matches of {alert['id']} go to {made['id']}.{secret}", {"id": made["id"]})


async def _change_destination(api: Service, asked: ChangedDestination) -> Result:
    found = await api.named(DESTINATIONS, asked.destination)
    await api.patch(f"{DESTINATIONS}/{found['id']}", _given(asked, "label", "delivery_mode", "enabled"))
    return Result(f"Changed the destination {found['id']}.")


async def _delete_destination(api: Service, asked: OneDestination) -> Result:
    found = await api.named(DESTINATIONS, asked.destination)
    await api.delete(f"{DESTINATIONS}/{found['id']}")
    return Result(f"Deleted the destination {found['id']}.")


async def _test_destination(api: Service, asked: OneDestination) -> Result:
    found = await api.named(DESTINATIONS, asked.destination)
    told = await api.post(f"{DESTINATIONS}/{found['id']}/test", {})
    return Result(f"The test: {told['result']}, {quoted(told['detail'], found['id'], 500)}")


_KETTLE: Final = "https://shop.example/kettle"
TOOLS: Final = (
    tool("watch", WatchArguments, _watch, looks=True),
    tool("change_source", ChangedSource, _change_source, looks=True),
    tool("stop_watching", OneSource, _stop, ends=True),
    tool("alerts", Nothing, _alerts),
    tool("create_alert", NewAlert, _create_alert, looks=True),
    tool("change_alert", ChangedAlert, _change_alert, looks=True),
    tool("delete_alert", OneAlert, _delete_alert, ends=True),
    tool("destinations", Nothing, _destinations),
    tool("destination_kinds", Nothing, _kinds),
    tool("add_destination", NewDestination, _add_destination, looks=True),
    tool("change_destination", ChangedDestination, _change_destination, looks=True),
    tool("delete_destination", OneDestination, _delete_destination, ends=True),
    tool("test_destination", OneDestination, _test_destination, looks=True),
)
