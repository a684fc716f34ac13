"""Competitors on a network in memory, with the real registry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Any

from actors.templates.instantiation import Report, SourceOutcome, Templates
from actors.templates.template import built_in, read_parameters
from tests.actors.sources.harness import Origin, Watching, page, rss, watching
from tests.support.disks import count
from tests.support.in_loop import Disk
from tests.support.memory_network import web

COMPETITORS = "gtm-competitor-watch"
TAG = f"template:{COMPETITORS}"
PATHS = ("pricing", "careers", "about", "blog")


class Market:
    """The service with its templates, and the competitors' sites by domain."""

    def __init__(self, service: Watching) -> None:
        self.service = service
        self.sites: dict[str, Origin] = {}
        world = replace(service.world, entropy=Random(count(service.disk, "alert")).randbytes)
        self.templates = Templates(
            world, "https://clinicaltrials.gov", service.storage, service.registry_box, built_in()
        )

    def site(self, domain: str, *, without: Sequence[str] = ()) -> Origin:
        """Make a competitor's whole site, without some pages."""
        origin = self.sites[domain] = Origin()
        text = f"What {domain} has to say about itself, at some length, so that it is a page with content."
        origin.bodies = {f"/{path}": page(f"{path}. {text}") for path in PATHS if path not in without}
        if "blog" not in without:
            origin.bodies["/blog"] = rss("hello")
        address = f"93.184.217.{len(self.sites)}"
        self.service.network.add(domain, address, web(origin, origin.asked))
        self.service.network.servers[address, 443] = self.service.network.servers[address, 80]
        return origin

    async def attach(self, *domains: str, alerts: bool = True, **params: Any) -> Report:
        """Instantiate the competitors' template."""
        template = self.templates.catalogue.get(COMPETITORS)
        assert template is not None
        values = read_parameters(template, {"domain": list(domains), **params})
        return await self.templates.instantiate(template, values, alerts=alerts)

    async def library(self) -> dict[str, tuple[str, ...]]:
        """Return the tags of all sources by URL."""
        watched = await self.service.storage.sources.page(None, 1000)
        return {each.source.url: each.source.tags for each in watched}

    async def covered(self) -> dict[str, list[str]]:
        """Return the URLs of each alert, by the key of its suggestion."""
        watched = await self.service.storage.sources.page(None, 1000)
        urls = {each.source.id: each.source.url for each in watched}
        alerts = await self.service.storage.alerts.all()
        return {str(alert.template): sorted(urls[id] for id in alert.source_ids) for alert in alerts}


def statuses(outcomes: Sequence[SourceOutcome]) -> dict[str, str]:
    """Return the outcome of each source, by its URL without the scheme."""
    return {outcome.wanted.url.removeprefix("https://"): outcome.status for outcome in outcomes}


@asynccontextmanager
async def a_market(disk: Disk | None = None, **settings: Any) -> AsyncIterator[Market]:
    async with watching(disk=disk, **settings) as (service, _):
        yield Market(service)
