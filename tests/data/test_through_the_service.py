"""Real material through the running service: added over HTTP from a local origin, watched, reported as events."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from urllib.parse import urljoin

import pytest
import trio

from actors.errors import DomainError
from tests.actors.sources.harness import ADDRESS, SITE, Origin, Watching, watching
from tests.data.material import files, manifest, needs
from tests.data.test_real_feeds import LEAST, folded
from tests.support.memory_network import web

pytestmark = pytest.mark.data
MOST = 50
PAGES = 12
"""Histories to replay: enough for every kind of page, few enough for each test run."""


async def misses_of(service: Watching, origin: Origin, number: int, line: dict[str, Any], body: bytes) -> list[str]:
    """Add one feed at its own host and compare the API's answers with the manifest."""
    host = f"{number}.feeds.example"
    service.network.add(host, ADDRESS, web(origin))
    origin.bodies["/feed"] = body
    origin.headers["/feed"] = {"content-type": line["serve_as"]} if line["serve_as"] else {}
    wanted = line["expected"]
    before = len(service.disk.events())
    try:
        view = (await service.add(f"http://{host}/feed", backfill=MOST)).view
    except DomainError as error:
        return [f"refused: {error.detail}"]
    told = service.events_from(before)
    misses = [] if view.source.type == line["type"] else [f"type {view.source.type}"]
    entries = wanted.get("entries")
    if entries is None:  # the parsers do not agree on it
        return misses
    if f" {entries} " not in view.source.detection.evidence:
        misses.append(f"entries: {view.source.detection.evidence!r}, not {entries}")
    if len(told) != min(MOST, entries):
        misses.append(f"{len(told)} events of {entries} entries")
    if wanted.get("first_link") and 0 < entries <= MOST:
        link = urljoin(f"http://{host}/feed", wanted["first_link"]).rstrip("/")
        titles = [folded(event["title"]) for event in told if event["url"].rstrip("/") == link]
        if folded(wanted.get("first_title")) not in titles:
            misses.append(f"first entry {wanted.get('first_title')!r} at {link}: {titles}")
    return misses


async def test_every_real_feed_added_over_http_has_the_entries_of_its_manifest(autojump_clock: object) -> None:
    needs("feeds")
    lines = {line["file"]: line for line in manifest("feeds")}
    misses: dict[str, list[str]] = {}
    async with watching(host_rate=1000.0) as (service, _):
        for number, (name, body) in enumerate(files("feeds")):
            if found := await misses_of(service, Origin(), number, lines[name], body):
                misses[name] = found
    table = "\n".join(f"{name}: {'; '.join(found)}" for name, found in misses.items())
    assert len(lines) > 100
    assert len(misses) <= (1 - LEAST) * len(lines), f"{len(misses)} of {len(lines)} feeds are misread:\n{table}"


def histories() -> dict[str, list[str]]:
    """Return the versions of some pages in order: pages that changed visibly, one of each kind first."""
    pages: dict[str, list[str]] = {}
    by_kind: dict[str, list[str]] = defaultdict(list)
    for pair in manifest("pages"):
        if pair["label"] == "real" and pair["labelled"] == "read" and pair["page"] not in pages:
            pages[pair["page"]] = [*pair["history"], pair["before"], pair["after"]]
            by_kind[pair["kind"]].append(pair["page"])
    turns = [
        page for position in range(PAGES) for kind in sorted(by_kind) for page in by_kind[kind][position : position + 1]
    ]
    return {page: pages[page] for page in turns[:PAGES]}


async def test_page_histories_replayed_version_by_version_give_events_with_a_delta(autojump_clock: object) -> None:
    needs("pages")
    chosen = histories()
    names = {name for versions in chosen.values() for name in versions}
    bodies = {name: body for name, body in files("pages") if name in names}
    told: dict[str, int] = {}
    for page, versions in chosen.items():
        async with watching(host_rate=1000.0) as (service, origin):
            origin.bodies["/page"] = bodies[versions[0]]
            await service.add(f"https://{SITE}/page", type="html")
            for version in versions[1:]:
                origin.bodies["/page"] = bodies[version]
                await trio.sleep(2 * 3600)
            events = await service.events()
            assert all(event["delta"]["ops"] and event["source_type"] == "html" for event in events)
            told[page] = len(events)
    assert sum(1 for count in told.values() if count) >= 0.75 * len(chosen), told
