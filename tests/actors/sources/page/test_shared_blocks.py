"""Blocks that the watched pages of one host share, across checks."""

from __future__ import annotations

import pytest
import trio

from actors.content.changes.churn import judge
from actors.content.changes.memory import encode
from actors.sources import page as neighbours
from actors.sources.page import MOST_OF_A_HOST, SharedBlocks
from storage.records.identity import SourceId
from tests.actors.content.written_pages import PROSE, html, reading
from tests.actors.sources.harness import page, watching

HOST = "shore.example"
BANNER = "Our autumn fair is on until the end of the week, come and see it, all of you, and bring your friends."
NEWS = "A new tide table for the coming winter has been published and replaces the one that was found to be wrong."


def memory(name: str, *shown: str) -> bytes:
    return encode(judge(None, reading(html(*shown, *(f"{text} Of {name}." for text in PROSE), title=name))).memory)


def names(count: int) -> list[SourceId]:
    return [SourceId(f"source-{n}") for n in range(count)]


def test_three_pages_are_enough_to_learn_shared_blocks() -> None:
    register, (first, *others) = SharedBlocks(), names(4)
    register.learn(HOST, first, memory("first"))
    for n, other in enumerate(others):
        assert register.shared(HOST, first) == ()
        register.learn(HOST, other, memory(str(n), BANNER))
    assert len(register.shared(HOST, first)) == 1
    assert register.shared(HOST, others[0]) == ()
    assert register.shared("other.example", first) == ()


def test_an_answer_follows_the_memories_and_a_forgotten_page_counts_no_more() -> None:
    register, (first, *others) = SharedBlocks(), names(4)
    for n, other in enumerate(others):
        register.learn(HOST, other, memory(str(n), BANNER))
    assert len(register.shared(HOST, first)) == 1
    register.learn(HOST, others[0], memory("0"))
    assert register.shared(HOST, first) == ()
    register.learn(HOST, others[0], memory("0", BANNER))
    register.drop(others[1])
    assert register.shared(HOST, first) == ()


def test_the_register_is_bounded_and_drops_the_hosts_idle_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbours, "MOST_PAGES", 10)
    register = SharedBlocks()
    for name in names(MOST_OF_A_HOST + 3):
        register.learn(HOST, name, memory(name))
    assert repr(register) == f"<SharedBlocks {MOST_OF_A_HOST} pages of 1 hosts>"
    register.learn("first.example", SourceId("a"), b"")
    register.learn("second.example", SourceId("b"), b"")
    register.learn("first.example", SourceId("a"), b"")
    register.learn(HOST, names(1)[0], b"")
    register.learn("third.example", SourceId("c"), b"")
    assert repr(register) == "<SharedBlocks 10 pages of 3 hosts>"


async def test_a_banner_that_reaches_the_last_of_four_pages_is_no_change_there(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        for n in range(4):
            origin.bodies[f"/{n}"] = page(*(f"{text} On page {n}." for text in PROSE))
            await service.add(f"https://site.example/{n}")
        for n in range(4):
            origin.bodies[f"/{n}"] = page(BANNER, *(f"{text} On page {n}." for text in PROSE))
            await trio.sleep(3 * 3600)
        told = [event["source_url"] for event in await service.events()]
        assert told == [f"https://site.example/{n}" for n in range(3)]


async def test_a_change_on_four_addresses_of_one_page_is_reported_at_each(autojump_clock: object) -> None:
    async with watching() as (service, origin):
        paths = [f"/{n}" for n in range(4)]
        for path in paths:
            origin.bodies[path] = page(*PROSE, f"Printed from {path}")
            await service.add(f"https://site.example{path}")
        for path in paths:
            origin.bodies[path] = page(NEWS, *PROSE, f"Printed from {path}")
            await trio.sleep(3 * 3600)
        assert len(await service.news()) == len(paths)
