"""JSON members that differ at each check, among members with content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.content.changes.churn import judge
from actors.content.changes.memory import decode_memory, encode
from tests.actors.content.changes.json_histories import history, play, shown
from tests.support.pages import read_page

_QUICK = range(3, 45)
_LONG = range(45, 645)


def told_of(*documents: Any) -> list[str]:
    """Return the report of each check after the first, "" for none."""
    memory, told = None, list[str]()
    for document in documents:
        body = json.dumps(document).encode()
        reading = read_page(body, "application/json", "https://shore.example/api", None, ())
        verdict = judge(memory, reading)
        memory = decode_memory(encode(verdict.memory))
        told.append(shown(verdict))
    return told[1:]


def _measured(seeds: range) -> tuple[float, float]:
    """Return the share of changes reported by the next check, and the share of quiet checks with a report."""
    played = [play(history(seed)) for seed in seeds]
    told, late = sum(one.told for one in played), sum(len(one.late) for one in played)
    false, quiet = sum(len(one.false) for one in played), sum(one.quiet for one in played)
    return told / (told + late), false / (false + quiet)


def test_changes_next_to_noise_are_reported_at_the_next_check_and_noise_is_not() -> None:
    recall, false = _measured(_QUICK)
    assert recall >= 0.99 and false <= 0.02


def test_many_changes_next_to_noise_are_reported_at_the_next_check_and_noise_is_not() -> None:
    recall, false = _measured(_LONG)
    assert recall >= 0.99 and false <= 0.005


def answer(number: int, **data: object) -> dict[str, object]:
    made = {"requestId": f"{number * 7919:08x}-aa", "generated_at": 1_764_300_000 + 61 * number, "took": 3 + number % 5}
    return {**made, "server": f"web-{number % 3:02}", "nonce": f"{number * 19919:x}", "data": data}


def test_regenerated_text_is_never_reported_and_a_change_next_to_it_at_once() -> None:
    quiet = [answer(n, open=True, price=12.5) for n in range(6)]
    assert told_of(*quiet) == [""] * 5
    for at in range(1, 6):
        *before, told, after = told_of(
            *quiet[:at], answer(at, open=True, price=14), answer(at + 1, open=True, price=14)
        )
        assert before == [""] * (at - 1) and '"price": 14' in told and after == ""


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("price", 12.5, 13),
        ("version", "1.4.2", "1.4.3"),
        ("status", "operational", "degraded"),
        ("open", True, False),
        ("note", "Closed on Monday", "Closed on 2 Mondays"),
        ("state", None, "sold"),
    ],
)
def test_a_word_a_price_and_a_version_do_not_wait(name: str, before: object, after: object) -> None:
    told = told_of({name: before, "x": "y"}, {name: after, "x": "y"})
    assert json.dumps(after) in told[0]


def test_possibly_regenerated_text_waits_one_check_only_right_after_the_first() -> None:
    assert told_of({"seats": 5}, {"seats": 6}, {"seats": 6})[0] == ""
    assert '"seats": 6' in told_of({"seats": 5}, {"seats": 6}, {"seats": 6})[1]
    assert '"seats": 6' in told_of({"seats": 5}, {"seats": 5}, {"seats": 6})[1]


def test_a_hash_that_changes_with_its_content_is_no_noise() -> None:
    releases = [{"version": f"1.{n}.0", "sha": f"{n * 7919 * 10**20:040x}"} for n in (1, 1, 2, 3, 4, 4)]
    alone = {**releases[-1], "sha": "f" * 39 + "0"}
    told = told_of(*releases, alone, alone)
    assert [bool(one) for one in told] == [False, True, True, True, False, False, True]


def test_noise_that_stays_is_reported_as_content() -> None:
    builds = [{"build": f"{n * 7919 * 10**8:016x}", "state": "ready"} for n in (1, 2, 3, 3, 3, 3, 3)]
    told = told_of(*builds)
    assert told[:2] == ["", ""] and sum(map(bool, told)) == 1


def test_noise_is_known_on_however_many_lines_its_object_is() -> None:
    def answered(number: int) -> dict[str, object]:
        # The object fits on one line of 160 characters at every other check.
        meta = {"trace": f"{number * 7919 * 10**8:016x}" * (1 + number % 2), "text": "a" * 100}
        return {"response": {"meta": meta, "ok": True}, "about": "b" * 60}

    told = told_of(*map(answered, range(9)))
    assert told[2:] == [""] * 6


@pytest.mark.parametrize("name", ["server", "uptime"])
def test_noise_in_cached_responses_is_reported_once_at_most(name: str) -> None:
    requests = (0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 7, 7, 8, 9, 9)
    made = ({"server": f"web-{n * 7 % 11:02}", "uptime": 98_000 + 600 * n} for n in requests)
    told = told_of(*({name: one[name], "open": True} for one in made))
    assert sum(map(bool, told)) <= 1


def test_a_random_token_without_a_digit_is_not_reported() -> None:
    tokens = ("7f3a1", "19920", "4cb52", "ffafa", "9969d", "bcdef", "19a2b")
    assert told_of(*({"nonce": token, "open": True} for token in tokens)) == [""] * 6


def test_a_new_item_of_a_list_has_the_noise_of_the_others() -> None:
    def listed(number: int, *names: str) -> dict[str, object]:
        items = [{"name": name, "price": 5, "token": f"{ord(name) * 7919**number * 10**8:x}"} for name in names]
        return {"items": items}

    told = told_of(*(listed(n, "a", "b") for n in range(4)), *(listed(n, "a", "b", "c") for n in range(4, 8)))
    assert [bool(one) for one in told] == [False, False, False, True, False, False, False]
