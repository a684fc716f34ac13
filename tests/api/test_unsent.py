"""Answers that nobody reads: bounded for a key, an address, and in all."""

from __future__ import annotations

import pytest
import trio
from trio.testing import lockstep_stream_pair, wait_all_tasks_blocked

from api import unsent
from api.problems import Refusal
from api.unsent import KNOWN, SMALL, STRANGERS, Asker, Room, Unsent, asker_of
from tests.api.house import House, make_house, running
from tests.support.build import a_draft

ME, YOU, NOBODY = Asker("key a", "192.0.2.1"), Asker("key b", "192.0.2.2"), Asker("", "192.0.2.3")
MIB = 1 << 20


async def asked(house: House, key: str) -> trio.abc.Stream:
    """Ask for a page of some 100 KB, and leave it unread."""
    head = f"GET /v1/events?limit=100 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {key}\r\n\r\n"
    return await house.raw(head.encode())


async def status(stream: trio.abc.Stream) -> int:
    return int((await stream.receive_some(12))[9:])


async def test_x21_s3_who_does_not_read_gets_503_beyond_a_bound_and_keeps_nobody_else_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unsent, "KNOWN", Room(350_000, 800_000))
    async with running(make_house(lockstep_stream_pair)) as house:
        await house.publish(*[a_draft(str(n), content="x" * 10_000) for n in range(10)])
        greedy, other = await house.key("stream:read"), await house.key("stream:read")
        streams = [await asked(house, greedy) for _ in range(12)]
        await wait_all_tasks_blocked()
        found = [await status(stream) for stream in streams]
        assert sorted(found) == [*[200] * 3, *[503] * 9]
        assert await status(await asked(house, other)) == 200
        rest = b""
        while b'"next_cursor"' not in rest:
            rest += await streams[found.index(200)].receive_some(1 << 20)
        await wait_all_tasks_blocked()
        assert await status(await asked(house, greedy)) == 200


async def test_s3_what_was_cut_or_left_is_counted_no_more(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: object
) -> None:
    monkeypatch.setattr(unsent, "KNOWN", Room(150_000, 800_000))
    async with running(make_house(lockstep_stream_pair, send_timeout=30)) as house:
        await house.publish(*[a_draft(str(n), content="x" * 10_000) for n in range(10)])
        key = await house.key("stream:read")
        for leave in (trio.sleep, None):
            stream = await asked(house, key)
            assert await status(stream) == 200
            await wait_all_tasks_blocked()
            assert await status(await asked(house, key)) == 503
            if leave is None:
                await trio.aclose_forcefully(stream)
                await wait_all_tasks_blocked()
            else:
                await leave(60)
        assert await status(await asked(house, key)) == 200


def test_s3_a_key_has_its_own_room_and_strangers_have_another() -> None:
    waiting = Unsent()
    places = [waiting.take(ME, MIB) for _ in range(KNOWN.own // MIB)]
    with pytest.raises(Refusal):
        waiting.take(ME, MIB)
    with pytest.raises(Refusal):
        waiting.take(Asker("key c", ME.address), MIB)
    places += [waiting.take(YOU, MIB), waiting.take(NOBODY, MIB), waiting.take(NOBODY, MIB)]
    with pytest.raises(Refusal):
        waiting.take(NOBODY, MIB)
    assert waiting.total == len(places) * MIB
    for place in places:
        place.leave()
        place.leave()
    assert waiting.total == 0 and not waiting._waiting


@pytest.mark.parametrize(("name", "room"), [("key", KNOWN), ("", STRANGERS)])
def test_s3_s4_all_together_have_a_bound(name: str, room: Room) -> None:
    waiting, taken = Unsent(), 0
    with pytest.raises(Refusal) as refused:
        for number in range(1_000):
            waiting.take(Asker(name and f"{name} {number}", f"192.0.2.{number}"), MIB)
            taken += MIB
    assert taken == room.most and refused.value.status == 503 and refused.value.headers["Retry-After"]


def test_a_small_answer_always_has_room_and_one_large_answer_too() -> None:
    waiting = Unsent()
    waiting.take(ME, KNOWN.own + MIB)
    waiting.take(ME, SMALL)


def test_whose_an_answer_is() -> None:
    assert asker_of({"client": ("2001:db8:1:2:3:4:5:6", 1)}) == Asker("", "2001:db8:1:2::")
    assert asker_of({"client": ("127.0.0.1", 1)}) == asker_of({"client": None}) == Asker("", "")
