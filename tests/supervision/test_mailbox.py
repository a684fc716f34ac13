from __future__ import annotations

import math
import random

import pytest
import trio

from supervision import (
    Child,
    ChildSpec,
    DynamicSupervisor,
    Mailbox,
    MailboxFull,
    MailboxStatistics,
    Reply,
    State,
    Unanswered,
)

Ask = tuple[str, Reply[str]]


class Boom(Exception):
    pass


def question(word: str) -> object:
    return lambda reply: (word, reply)


@pytest.mark.parametrize("bound", [0, -1, math.inf, 1.5, True])
def test_p4_a_mailbox_has_a_finite_bound(bound: float) -> None:
    with pytest.raises(ValueError, match="whole number"):
        Mailbox("box", bound)


async def test_p1_a_cancelled_send_has_sent_nothing(autojump_clock: trio.testing.MockClock) -> None:
    box: Mailbox[str] = Mailbox("box", 1)
    await box.send("first")
    with trio.move_on_after(1) as scope:
        await box.send("second")
    assert scope.cancelled_caught
    assert box.receive_nowait() == "first"
    with pytest.raises(trio.WouldBlock):
        box.receive_nowait()
    assert box.statistics() == MailboxStatistics("box", depth=0, bound=1, sent=1, received=1, full=1)


async def test_p1_a_send_into_a_cancelled_scope_has_sent_nothing_even_with_room() -> None:
    box: Mailbox[str] = Mailbox("box", 1)
    with trio.CancelScope() as scope:
        scope.cancel()
        await box.send("x")
    assert scope.cancelled_caught
    assert box.statistics().depth == 0


async def test_p1_a_cancelled_receive_has_taken_nothing() -> None:
    box: Mailbox[str] = Mailbox("box", 1)
    box.send_nowait("x")
    with trio.CancelScope() as scope:
        scope.cancel()
        await box.receive()
    assert box.receive_nowait() == "x"


async def test_p1_a_receive_that_was_cancelled_before_the_first_message_can_be_made_again() -> None:
    box: Mailbox[str] = Mailbox("box", 1)
    got: list[str] = []

    async def receiver() -> None:
        got.append(await box.receive())

    with trio.CancelScope() as scope:
        scope.cancel()
        await box.receive()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(receiver)
        await trio.testing.wait_all_tasks_blocked()
        box.send_nowait("x")
    assert (got, box.statistics().depth) == (["x"], 0)


async def test_p9_a_message_handed_over_in_the_tick_of_a_cancellation_is_received() -> None:
    box: Mailbox[str] = Mailbox("box", 1)
    got: list[str] = []
    scope = trio.CancelScope()

    async def receiver() -> None:
        with scope:
            got.append(await box.receive())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(receiver)
        await trio.testing.wait_all_tasks_blocked()
        box.send_nowait("x")
        scope.cancel()
    assert got == ["x"]
    assert scope.cancel_called, "so a cancelled scope does not tell that nothing happened"


async def test_a_full_mailbox_refuses_and_counts() -> None:
    box: Mailbox[int] = Mailbox("box", 2)
    box.send_nowait(1)
    box.send_nowait(2)
    with pytest.raises(MailboxFull, match="mailbox box holds 2 messages"):
        box.send_nowait(3)
    assert repr(box) == "<Mailbox box 2/2, 2 sent, 0 received>"
    assert [await box.receive(), await box.receive()] == [1, 2]
    assert box.statistics().full == 1


async def test_full_senders_wait_their_turn_and_nothing_is_reordered(
    autojump_clock: trio.testing.MockClock,
) -> None:
    box: Mailbox[int] = Mailbox("box", 3)

    async def produce() -> None:
        for number in range(50):
            await box.send(number)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(produce)
        assert [await box.receive() for _ in range(50)] == list(range(50))
    assert (box.statistics().sent, box.statistics().received) == (50, 50)


async def test_p8_a_consumer_that_restarts_loses_nothing_it_had_not_taken(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    box: Mailbox[int] = Mailbox("box", 5)
    seen: list[int] = []

    async def consume(child: Child) -> None:
        while True:
            number = await box.receive()
            if number % 7 == 3:
                raise Boom
            seen.append(number)

    many.start_child(ChildSpec("consumer", consume, mailbox=box))
    for number in range(20):
        await box.send(number)
    await trio.sleep(100)
    assert seen == [n for n in range(20) if n % 7 != 3]
    assert many.status("consumer").restarts == 3


async def test_p7_no_producer_can_close_a_mailbox_for_another(autojump_clock: trio.testing.MockClock) -> None:
    box: Mailbox[int] = Mailbox("box", 1)

    async def produce(number: int) -> None:
        await box.send(number)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(produce, 1)
        nursery.start_soon(produce, 2)
        assert sorted([await box.receive(), await box.receive()]) == [1, 2]
    assert not hasattr(box, "close")
    assert not hasattr(box, "__aexit__")


async def test_ask_returns_the_answer(nursery: trio.Nursery) -> None:
    box: Mailbox[Ask] = Mailbox("box", 1)

    async def answer() -> None:
        while True:
            word, reply = await box.receive()
            with reply:
                reply.answer(word.upper())
                reply.answer("second words are ignored")
                reply.fail(Boom())

    nursery.start_soon(answer)
    assert await box.ask(lambda reply: ("hi", reply)) == "HI"


async def test_ask_raises_the_answerers_exception(nursery: trio.Nursery) -> None:
    box: Mailbox[Ask] = Mailbox("box", 1)

    async def answer() -> None:
        _, reply = await box.receive()
        reply.fail(Boom("no"))

    nursery.start_soon(answer)
    with pytest.raises(Boom, match="no"):
        await box.ask(lambda reply: ("hi", reply))


async def test_a_question_left_without_an_answer_fails(nursery: trio.Nursery) -> None:
    box: Mailbox[Ask] = Mailbox("box", 1)

    async def answer() -> None:
        _, reply = await box.receive()
        with reply:
            pass
        _, reply = await box.receive()
        try:
            with reply:
                raise Boom
        except Boom:
            pass

    nursery.start_soon(answer)
    with pytest.raises(Unanswered, match="without an answer"):
        await box.ask(lambda reply: ("a", reply))
    with pytest.raises(Unanswered, match="by Boom"):
        await box.ask(lambda reply: ("b", reply))


async def test_a_crash_between_taking_and_answering_is_reported_to_the_asker_only(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    box: Mailbox[Ask] = Mailbox("box", 5)

    async def consume(child: Child) -> None:
        while True:
            word, reply = await box.receive()
            if word == "bad":
                raise Boom
            reply.answer(word.upper())

    outcomes: list[str] = []

    async def asker(word: str) -> None:
        try:
            outcomes.append(await box.ask(lambda reply: (word, reply)))
        except Unanswered as error:
            outcomes.append(str(error))

    async with trio.open_nursery() as askers:
        for word in ("bad", "good"):
            askers.start_soon(asker, word)
        await trio.testing.wait_all_tasks_blocked()
        many.start_child(ChildSpec("c", consume, mailbox=box))
    assert sorted(outcomes) == ["GOOD", "many/c ended before answering"]


async def test_when_the_consumer_is_gone_for_good_waiting_and_new_questions_fail_at_once(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    box: Mailbox[Ask] = Mailbox("box", 1)

    async def consume(child: Child) -> None:
        await trio.sleep_forever()

    many.start_child(ChildSpec("c", consume, mailbox=box))
    refused: list[float] = []

    async def asker() -> None:
        with pytest.raises(Unanswered, match="many/c has ended"):
            await box.ask(lambda reply: ("x", reply))
        refused.append(trio.current_time())

    began = trio.current_time()
    async with trio.open_nursery() as askers:
        askers.start_soon(asker)
        askers.start_soon(asker)  # this one waits with its question unsent, as the mailbox is full
        await trio.sleep(10)
        await many.stop_child("c")
    assert refused == [began + 10] * 2
    with pytest.raises(Unanswered, match="no task reads mailbox box"):
        await box.ask(lambda reply: ("x", reply))
    assert box.statistics().depth == 1, "messages stay for whoever comes next"

    async def answer(child: Child) -> None:
        while True:
            word, reply = await box.receive()
            reply.answer(word)

    many.start_child(ChildSpec("c", answer, mailbox=box))
    await trio.sleep(1)
    assert await box.ask(lambda reply: ("back", reply)) == "back"


async def test_a_quarantined_consumer_counts_as_gone(
    many: DynamicSupervisor, autojump_clock: trio.testing.MockClock
) -> None:
    box: Mailbox[Ask] = Mailbox("box", 5)

    async def bad(child: Child) -> None:
        raise Boom

    many.start_child(ChildSpec("c", bad, mailbox=box))
    with pytest.raises(Unanswered, match="quarantine"):
        await box.ask(lambda reply: ("x", reply))
    assert many.status("c").state is State.QUARANTINED


async def test_an_asker_that_waits_has_not_left(nursery: trio.Nursery) -> None:
    box: Mailbox[Ask] = Mailbox("box", 1)
    nursery.start_soon(box.ask, lambda reply: ("x", reply))
    await trio.testing.wait_all_tasks_blocked()
    _, reply = box.receive_nowait()
    assert (reply.abandoned, repr(reply)) == (False, "<Reply taken>")
    reply.answer("y")


async def test_a_cancelled_ask_harms_no_other(autojump_clock: trio.testing.MockClock) -> None:
    box: Mailbox[Ask] = Mailbox("box", 1)
    with trio.move_on_after(1):
        await box.ask(lambda reply: ("x", reply))
    word, reply = box.receive_nowait()
    assert (word, reply.abandoned) == ("x", True)
    assert repr(reply) == "<Reply gone>"
    reply.answer("nobody hears this")
    box.fail_questions("gone", for_good=True)


async def test_an_ask_cancelled_at_a_full_mailbox_is_not_delivered(
    autojump_clock: trio.testing.MockClock,
) -> None:
    box: Mailbox[Ask | str] = Mailbox("box", 1)
    box.send_nowait("in the way")
    with trio.move_on_after(1):
        await box.ask(lambda reply: ("x", reply))
    assert box.receive_nowait() == "in the way"
    with pytest.raises(trio.WouldBlock):
        box.receive_nowait()


async def test_no_question_is_ever_without_an_end_under_random_crashes(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    chance = random.Random(3)
    many = DynamicSupervisor("many", chance=chance, budget=(10**6, 1.0))
    nursery.start_soon(many.run)
    await trio.sleep(1)
    box: Mailbox[Ask] = Mailbox("box", 3)

    async def consume(child: Child) -> None:
        while True:
            word, reply = await box.receive()
            await trio.sleep(chance.random())
            if chance.random() < 0.3:
                raise Boom
            reply.answer(word)
            await trio.sleep(chance.random())

    outcomes: list[str] = []

    async def asker(number: int) -> None:
        await trio.sleep(chance.random() * 30)
        try:
            outcomes.append(await box.ask(lambda reply: (str(number), reply)))
        except Unanswered:
            outcomes.append("unanswered")

    many.start_child(ChildSpec("c", consume, mailbox=box))
    async with trio.open_nursery() as askers:
        for number in range(200):
            askers.start_soon(asker, number)
    assert len(outcomes) == 200
    assert 30 < outcomes.count("unanswered") < 90
    many.stop()


async def test_r5_work_for_a_cancelled_request_is_cancelled_unless_committed(autojump_clock: object) -> None:
    done: list[str] = []
    mailbox: Mailbox[tuple[str, Reply[None]]] = Mailbox("m", 4)

    async def work(name: str, reply: Reply[None]) -> None:
        with reply, reply.while_awaited():
            if name == "committed":
                await reply.commit()
            await trio.sleep(10)
            done.append(name)
        if name == "late":
            done.append("ended")

    async with trio.open_nursery() as nursery:
        for name in ("committed", "late"):
            with trio.move_on_after(1):
                async with trio.open_nursery() as asking:
                    asking.start_soon(mailbox.ask, lambda reply, name=name: (name, reply))  # type: ignore[misc]
                    nursery.start_soon(work, *await mailbox.receive())
    assert done == ["ended", "committed"]


async def test_r5_work_for_a_cancelled_request_ends_at_its_first_checkpoint() -> None:
    reply: Reply[None] = Reply()
    reply.abandon()
    done = False
    with reply.while_awaited():
        await reply.commit()
        done = True
    assert not done


async def test_a_mailbox_without_a_reader_holds_nothing() -> None:
    assert Mailbox[str]("inbox", 4).statistics() == MailboxStatistics("inbox", 0, 4, 0, 0, 0)
