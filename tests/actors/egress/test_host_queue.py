from __future__ import annotations

import heapq
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from actors.egress.hosts import IN_A_ROW, INTERACTIVE, Queue, TurnRequest, Waiter


def join(queue: Queue, *claims: TurnRequest) -> list[Waiter]:
    waiters = [Waiter(claim, lambda: None) for claim in claims]
    for waiter in waiters:
        queue.join(waiter)
    return waiters


def names(queue: Queue) -> list[str]:
    found = []
    while (waiter := queue.next()) is not None:
        found.append(waiter.request.name)
    return found


def test_the_source_checked_longest_ago_is_next_then_the_first_to_come() -> None:
    queue = Queue()
    join(queue, TurnRequest("new", 5.0), TurnRequest("old", 1.0), TurnRequest("first", 3.0), TurnRequest("second", 3.0))
    assert names(queue) == ["old", "first", "second", "new"]


def test_a_users_request_goes_first_and_leaves_every_fourth_turn_to_others() -> None:
    queue = Queue()
    join(queue, *(TurnRequest(f"s{number}", number) for number in range(3)), *(INTERACTIVE for _ in range(8)))
    assert names(queue) == [*[""] * IN_A_ROW, "s0", *[""] * IN_A_ROW, "s1", "", "", "s2"]
    join(queue, *(INTERACTIVE for _ in range(10)))
    assert names(queue) == [""] * 10


def test_a_source_that_somebody_asks_for_while_it_waits_is_moved() -> None:
    queue = Queue()
    join(queue, *(TurnRequest(f"s{number}", number) for number in range(100)))
    assert queue.position("s70") == 70
    assert queue.prioritize("s70") and queue.prioritize("s70")
    assert (queue.position("s70"), queue.position("s71"), len(queue)) == (0, 71, 100)
    assert not queue.prioritize("unknown")
    assert queue.position("unknown") == 0
    assert names(queue)[0] == "s70"


def test_a_merged_queue_keeps_every_waiter_and_the_order() -> None:
    one, other = Queue(), Queue()
    join(one, TurnRequest("a", 1.0), TurnRequest("c", 3.0))
    join(other, TurnRequest("b", 2.0), TurnRequest("d", 4.0), TurnRequest("x", interactive=True))
    one.absorb(other)
    assert (len(one), len(other)) == (5, 0)
    assert names(one) == ["x", "a", "b", "c", "d"]
    assert names(other) == []


@given(
    st.lists(st.tuples(st.sampled_from(["join", "asked", "leave", "next", "hurry"]), st.integers(0, 9)), max_size=80)
)
def test_a_waiter_is_called_once_unless_it_leaves(steps: list[tuple[str, int]]) -> None:
    queue, waiting = Queue(), list[Waiter]()
    for number, (step, which) in enumerate(steps):
        if step in ("join", "asked"):
            waiting += join(queue, TurnRequest(f"s{number}", which, step == "asked"))
        elif step == "next":
            called = queue.next()
            assert (called is None) == (not waiting)
            if called is not None:
                waiting.remove(called)
        elif waiting:
            one = waiting[which % len(waiting)]
            if step == "leave":
                waiting.remove(one)
                queue.leave(one)
                queue.leave(one)
            else:
                assert queue.prioritize(one.request.name)
        assert len(queue) == len(waiting)
    assert sorted(names(queue)) == sorted(waiter.request.name for waiter in waiting)


def test_many_waiters_that_give_up_cost_no_memory() -> None:
    queue = Queue()
    for waiter in join(queue, *(TurnRequest(f"s{number}", number) for number in range(10_000))):
        queue.leave(waiter)
    assert len(queue._background) < 100


def shares(intervals: list[float], seconds: int) -> Counter[int]:
    """Count each source's turns at a host with a turn a second. intervals: seconds between due checks."""
    queue, looks = Queue(), Counter[int]()
    due = [(0.0, number) for number in range(len(intervals))]
    last = [0.0] * len(intervals)
    for now in range(seconds):
        while due and due[0][0] <= now:
            number = heapq.heappop(due)[1]
            join(queue, TurnRequest(str(number), last[number]))
        called = queue.next()
        if called is not None:
            number = int(called.request.name)
            looks[number] += 1
            last[number] = now
            heapq.heappush(due, (now + intervals[number], number))
        assert len(queue) <= len(intervals)
    return looks


def test_ten_thousand_sources_of_one_host_share_it_evenly() -> None:
    looks = shares([60.0 + number % 2640 for number in range(10_000)], 50_000)
    assert sum(looks.values()) == 50_000
    assert set(looks.values()) == {5}


def test_a_small_waiter_gets_all_it_wants_and_the_others_share_the_rest() -> None:
    """Max-min: 10 sources want 0.01 turns a second in all; 300 greedy ones want five times the rest."""
    looks = shares([1000.0] * 10 + [60.0] * 300, 40_000)
    modest, greedy = [looks[number] for number in range(10)], [looks[number] for number in range(10, 310)]
    assert min(modest) >= 39
    assert max(greedy) - min(greedy) <= 2
    assert sum(greedy) + sum(modest) == 40_000
