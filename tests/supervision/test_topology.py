from __future__ import annotations

import pytest
import trio

from supervision import Mailbox, Ring, check_acyclic


def test_p3_a_ring_of_mailboxes_is_refused_and_named() -> None:
    with pytest.raises(Ring, match="messages go in a ring: ") as caught:
        check_acyclic([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])
    assert set(caught.value.members) == {"b", "c"}
    assert caught.value.members[0] == caught.value.members[-1]


def test_p3_sending_to_oneself_is_a_ring() -> None:
    with pytest.raises(Ring, match="a -> a"):
        check_acyclic([("a", "a")])


def test_p3_without_a_ring_the_order_goes_forward() -> None:
    edges = [("registry", "actor"), ("actor", "writer"), ("writer", "reader"), ("registry", "writer")]
    order = check_acyclic(edges)
    assert all(order.index(sender) < order.index(receiver) for sender, receiver in edges)


async def test_p3_why_two_actors_that_emit_more_than_they_take_wait_for_ever(
    autojump_clock: trio.testing.MockClock,
) -> None:
    left: Mailbox[int] = Mailbox("left", 1)
    right: Mailbox[int] = Mailbox("right", 1)

    async def actor(inbox: Mailbox[int], outbox: Mailbox[int]) -> None:
        while True:
            number = await inbox.receive()
            await outbox.send(number)
            await outbox.send(number)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(actor, left, right)
        nursery.start_soon(actor, right, left)
        await left.send(0)
        await trio.sleep(3600)
        before = (left.statistics(), right.statistics())
        await trio.sleep(3600)
        assert (left.statistics(), right.statistics()) == before
        assert before[0].depth == before[1].depth == 1
        nursery.cancel_scope.cancel()
