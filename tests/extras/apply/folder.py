"""Folders of files against the front end in memory: applied, planned, cut off at any request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from extras.apply.acting import Actor, ActResult, compared, expanded, people_of, state_of
from extras.apply.people import steps_of
from extras.apply.planning import Options, Plan, plan_of
from extras.apply.reading import read_folder
from sanderling.client.api import Client, WaitingClient
from storage.records.identity import SourceId
from storage.records.source import WatchedSource
from tests.api.house import BASE_URL, House


class Killed(Exception):
    """The command died: kill -9."""


class Cut(httpx.AsyncBaseTransport):
    """A connection to the service that ends at request number `at`, from 1: before it is sent, or before its answer."""

    def __init__(self, inner: httpx.AsyncBaseTransport, at: int | None = None, *, sent: bool = False) -> None:
        self._inner, self._at, self._sent = inner, at, sent
        self.asked: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(f"{request.method} {request.url.path}")
        ends = len(self.asked) == self._at
        if ends and not self._sent:
            raise Killed
        answer = await self._inner.handle_async_request(request)
        if ends:
            raise Killed
        return answer


def files(folder: Path, **texts: str) -> Path:
    """Write files, and remove the old ones. One of them names the workspace; the default is `shop`."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.toml"):
        old.unlink()
    if not any("workspace" in text for text in texts.values()):
        texts["workspace"] = 'workspace = "shop"'
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text, "utf-8")
    return folder


def store_what_is_registered(house: House) -> None:
    """Let alerts find the sources of the scripted registry, which stores none."""

    async def get(source: SourceId) -> WatchedSource | None:
        view = house.registry.views.get(source)
        return None if view is None else WatchedSource(view.source, view.hot, b"")

    house.storage.sources.get = get  # type: ignore[method-assign,assignment]


class Service:
    """The service of a house, as the command sees it."""

    def __init__(self, house: House, key: str, inner: httpx.AsyncBaseTransport) -> None:
        self.house, self.key, self.inner = house, key, inner
        self.variables: Mapping[str, str] = {}

    @classmethod
    async def of(cls, house: House) -> Service:
        store_what_is_registered(house)
        client = await house.client()
        return cls(house, client.headers["Authorization"].removeprefix("Bearer "), client._transport)

    def client(self, cut: Cut | None = None) -> WaitingClient:
        return WaitingClient(Client(BASE_URL, self.key, cut or self.inner))

    async def plan(self, folder: Path, client: WaitingClient | None = None, **options: bool) -> Plan:
        client = client or self.client()
        wish, state = await expanded(client, read_folder(folder, self.variables)), await state_of(client)
        plan = plan_of(wish, state, Options(**options))
        plan = plan_of(wish, state, Options(**options), await compared(client, plan.doubts)) if plan.doubts else plan
        return plan._replace(people=steps_of(wish.people, await people_of(client))) if wish.people else plan

    async def apply(
        self, folder: Path, at: int | None = None, *, sent: bool = False, **options: bool
    ) -> tuple[list[ActResult], list[str]]:
        """Apply files, to the end or to a request; return the completed steps and the requests."""
        done: list[ActResult] = []
        cut = Cut(self.inner, at, sent=sent)
        client = self.client(cut)
        plan = await self.plan(folder, client, **options)
        assert not plan.faults, plan.faults
        await Actor(client, plan, done.append).run()
        return done, cut.asked

    async def ask(self, method: str, path: str, **request: Any) -> Any:
        """Send a request as a user would; return the answer's body."""
        answer = await self.client().ask(method, path, **request)
        return answer.json() if answer.content else None

    async def everything(self) -> dict[str, list[dict[str, Any]]]:
        """Return all records without fields that differ between runs: ids, times, revisions."""
        found: dict[str, list[dict[str, Any]]] = {}
        names: dict[str, str] = {}
        destinations: dict[str, dict[str, Any]] = {}
        for kind in ("sources", "alerts", "destinations", "publications"):
            records = await self.ask("GET", f"/v1/{kind}", params={"limit": 1000})
            names |= {one["id"]: str(one.get("url") or one.get("name") or one.get("title")) for one in records}
            if kind == "destinations":
                destinations = {one["id"]: one for one in records}
            found[kind] = sorted((_kept(one, names) for one in records), key=repr)
        ids = {id: f"{names[one['alert_id']]} {one['url']}" for id, one in destinations.items()}
        tags = [one for one in await self.ask("GET", "/v1/tags") if one["defaults"]]
        for one in tags:
            told = sorted(ids.get(id, "?") for id in one["defaults"]["destinations"])
            one["defaults"] = _kept(one["defaults"], names) | {"destinations": told}
        return {**found, "tags": tags}


_MOVES = ("id", "revision", "created_at", "updated_at", "updated_by", "feeds")


def _kept(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    kept = {name: value for name, value in record.items() if name not in _MOVES}
    if "title" in record and "feeds" in record:
        del kept["url"]
    if "notices" in kept:
        kept["notices"] = sorted(kept["notices"])
    for name in ("alert_id", "source_ids", "alert_ids"):
        if isinstance(kept.get(name), str):
            kept[name] = names.get(kept[name], "?")
        elif name in kept:
            kept[name] = sorted(names.get(id, "?") for id in kept[name])
    return kept
