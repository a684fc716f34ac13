"""Random worlds around a list: it grows, items move up, addresses get sessions, the list is reset, pages fail, and the
service is killed. It reports each item once; the test notices planted bugs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

import pytest
import trio

from actors.content.changes import listed
from actors.content.messages import item_form
from actors.sources import following as items
from tests.actors.sources.harness import SITE, Answer, Origin, ReceivedRequest, watching
from tests.support.in_loop import Disk

URL = f"https://{SITE}/news"
WINDOW = 14
PER_HOUR = 6
SEEDS = range(2)
_HOUR = 3600


class Town(Origin):
    """A list with pages behind it. all: names of items, newest first; those beyond the window are on the next page."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self.dice, self.session, self.era = dice, "", 0
        self.all = [f"start{n}" for n in range(3 * WINDOW)]
        self.added: list[str] = []
        self.resets = 0
        self.manners: dict[str, int] = {}
        """How often an item's page fails: -1 for ever."""
        self.fetched: list[tuple[float, str]] = []

    def __call__(self, asked: ReceivedRequest) -> Answer:
        if asked.target == "/robots.txt":
            return Answer(404, b"")
        if asked.target == "/news":
            return Answer(200, self.document())
        name = asked.target.rpartition("/")[2].partition("?")[0]
        self.fetched.append((trio.current_time(), name))
        if left := self.manners.get(name, 0):
            self.manners[name] = left - (left > 0)
            return Answer(404 if left < 0 else 503, b"no")
        text = f"The whole text about {name}, which stands on its own page only and nowhere else at all."
        return Answer(200, f"<html><body><main><h1>{name}</h1><p>{text}</p><p>{text}</p></main></body></html>".encode())

    def document(self) -> bytes:
        links = ((f"/{self.session}n/{name}", f"All that the town says of {name}") for name in self.all[:WINDOW])
        rows = "".join(f'<li><a href="{url}">{title}</a></li>' for url, title in links)
        menu = "<nav><a href=/a>Home</a></nav>"
        return f"<html><body>{menu}<main><h1>News</h1><ul>{rows}</ul></main></body></html>".encode()

    def grow(self) -> None:
        for _ in range(self.dice.randint(1, 3)):
            name = f"item{len(self.added)}"
            self.manners[name] = self.dice.choice((0, 0, 0, 1, 2, -1))
            self.all.insert(0, name)
            self.added.append(name)

    def drop(self) -> None:
        """Delete old items from the middle: others move up from the next page."""
        for _ in range(4):
            old = [name for name in self.all[2 : WINDOW - 1] if name.startswith(("start", "era"))]
            self.all.remove(self.dice.choice(old))

    def rename(self) -> None:
        """Give each visitor a session in the path."""
        self.session = f"s{self.dice.getrandbits(32):x}/"

    def reset(self) -> None:
        self.era, self.resets = self.era + 1, self.resets + 1
        self.all = [f"era{self.era}x{n}" for n in range(3 * WINDOW)]


async def lived(seed: int) -> tuple[Town, list[dict[str, Any]]]:
    """Run a world; return its town and the events."""
    dice = random.Random(seed)
    town, disk = Town(dice), Disk()
    acts = ["grow", "grow", "drop", "rename", "grow", "drop", "reset", "grow", "drop", "rename", "grow"]
    async with watching(town, disk=disk, follow_per_hour=PER_HOUR, cadence_ceiling=300) as (run, _):
        await run.add(URL, follow="new_links")
        await trio.sleep(400)
    while acts:
        async with watching(town, disk=disk, follow_per_hour=PER_HOUR, cadence_ceiling=300) as (run, _):
            for act in acts[:2]:
                getattr(town, act)()
                await trio.sleep(dice.uniform(320, 900))
            del acts[:2]
            if acts:
                await trio.sleep(dice.uniform(0, 90))  # followed by a kill
    async with watching(town, disk=disk, follow_per_hour=PER_HOUR, cadence_ceiling=300) as (run, _):
        await trio.sleep(8 * _HOUR)
        return town, await run.events()


def broken(town: Town, events: list[dict[str, Any]]) -> Iterator[str]:
    """Yield each broken promise."""
    news = [event for event in events if "alert_type" not in event]
    told = Counter(item_form(event["url"]).rpartition("/")[2] for event in news)
    for name in town.added:
        if told[name] != 1:
            yield f"{name} is told {told[name]} times"
    for name in told.keys() - set(town.added):
        yield f"{name} is told and is not new"
    for event in news:
        name = event["url"].rpartition("/")[2]
        if ("The whole text" in event["content"]) == ("unread" in event):
            yield f"{name} has neither its text nor a reason"
        if "unread" in event and town.manners.get(name, 0) >= 0:
            yield f"{name} has no text, and its page can be had"
    resets = sum(event.get("alert_type") == "source_reset" for event in events)
    if resets != town.resets:
        yield f"{town.resets} resets are said {resets} times"
    moments = [at for at, _ in town.fetched]
    if any(sum(at <= other < at + _HOUR - 60 for other in moments) > 2 * PER_HOUR for at in moments):
        yield "more pages are fetched in an hour than may be"


@pytest.mark.parametrize("seed", SEEDS)
async def test_each_item_is_reported_once_with_its_text_or_the_reason(seed: int, autojump_clock: object) -> None:
    assert list(broken(*await lived(seed))) == []


def _waiting_not_stored() -> AbstractContextManager[Any]:
    """The check marks items as seen but stores no waiting items, so a crash loses them."""
    return patch.object(items, "encode", lambda following: b"")


def _told_and_waiting() -> AbstractContextManager[Any]:
    """A reported item keeps waiting."""
    return patch.object(items, "remove", lambda queue, item: queue)


def _tried_for_ever() -> AbstractContextManager[Any]:
    """A missing page is fetched for ever, and its item is never reported."""
    return patch.object(items, "gives_up", lambda item, now, *, is_permanent: False)


def _given_up_at_once() -> AbstractContextManager[Any]:
    """A page that fails once is not tried again."""
    return patch.object(items, "gives_up", lambda item, now, *, is_permanent: True)


def _resets_told() -> AbstractContextManager[Any]:
    """A wholly new list is all news."""
    return patch.object(listed, "FEWEST", 10**9)


def _sessions_are_new() -> AbstractContextManager[Any]:
    """Only its address identifies an item."""
    return patch.object(listed, "_renamed", lambda unknown, before, now: [])


def _moved_up_is_new() -> AbstractContextManager[Any]:
    """Every item new to the page is news, even from the next page."""
    return patch.object(listed, "_moved_up", lambda all_of_it, news, last, now: ())


PLANTS = (
    _waiting_not_stored,
    _told_and_waiting,
    _tried_for_ever,
    _given_up_at_once,
    _resets_told,
    _sessions_are_new,
    _moved_up_is_new,
)


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__.strip("_") for plant in PLANTS])
async def test_a_planted_bug_is_noticed(plant: Any, autojump_clock: object) -> None:
    with plant():
        assert list(broken(*await lived(SEEDS[0])))
