from __future__ import annotations

import random

from api.ratelimit import Limit, Limiter
from extras.cluster.members.membership import KEPT, TOLD, Usage
from storage.records.member import Member, Says, View


def a_view(number: int, *told: tuple[str, dict[str, int]], **more: bool) -> View:
    members = tuple(Member(id, inside=more.get(id, True), says=Says(taken=taken)) for id, taken in told)
    return View(number, 0.0, members)


def test_a_client_of_three_nodes_gets_one_rate_plus_one_beat() -> None:
    chance, limit = random.Random(3), Limit(5.0, 10)
    usages = {name: Usage() for name in "abc"}
    limiters = {name: Limiter(usage) for name, usage in usages.items()}
    for usage in usages.values():
        usage.hear(a_view(0, *((name, {}) for name in "abc")), "none of these")
    admitted, seconds = 0, 200
    for second in range(seconds):
        for turn in range(30):
            name = chance.choice("abc")
            admitted += limiters[name].take("key", limit, second + turn / 30).admitted
        view = a_view(second, *((name, dict(usage.told(second + 1.0))) for name, usage in usages.items()))
        for name, usage in usages.items():
            usage.hear(view, name)
    alone = limit.burst + limit.rate * seconds
    assert 0.9 * alone <= admitted <= alone + 3 * (limit.burst + 2 * limit.rate)


def test_a_beat_received_twice_counts_once() -> None:
    usage = Usage()
    other = Usage()
    usage.hear(a_view(1, ("b", {})), "a")
    for _ in range(4):
        other.count_admitted("key", 1.0)
    view = a_view(2, ("b", dict(other.told(1.0))))
    usage.hear(view, "a")
    usage.hear(view, "a")
    assert [usage.admitted_elsewhere(who) for who in ("somebody else", "key", "key")] == [0, 4, 0]


def test_tokens_taken_before_this_node_started_are_not_charged() -> None:
    usage, other = Usage(), Usage()
    other.count_admitted("key", 0.0)
    usage.hear(a_view(1, ("b", dict(other.told(0.0)))), "a")
    assert usage.admitted_elsewhere("key") == 0
    assert dict(other.told(KEPT + 1)) == {}
    other.count_admitted("key", KEPT + 1)
    usage.hear(a_view(2, ("b", dict(other.told(KEPT + 1)))), "a")
    usage.hear(a_view(3, ("b", dict(other.told(KEPT + 1)))), "a")
    assert usage.admitted_elsewhere("key") == 0  # the count was 1 and is 1 again: no difference
    other.count_admitted("key", KEPT + 2)
    usage.hear(a_view(4, ("b", dict(other.told(KEPT + 2)))), "a")
    assert usage.admitted_elsewhere("key") == 1


def test_a_beat_has_a_bound_and_names_no_client() -> None:
    usage = Usage()
    for number in range(3 * TOLD):
        usage.count_admitted(f"peer 203.0.113.{number}", 1.0)
    told = usage.told(1.0)
    assert len(told) == TOLD and not any("203" in name and "." in name for name in told)


def test_a_beat_of_a_removed_member_is_ignored() -> None:
    usage = Usage()
    usage.hear(a_view(1, ("b", {}), b=True), "a")
    usage.hear(a_view(2, ("b", {"x": 9}), b=False), "a")
    assert not usage._owed
