"""Promises of `bench.watch` about its scripted histories; no judge runs here."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.watch import matched
from bench.watching.changes_more import MORE
from bench.watching.documents import lines_of
from bench.watching.frames import FRAMES, tuning
from bench.watching.histories import History, histories
from bench.watching.nouns import NOUNS
from bench.watching.scripts import OFTEN, SELDOM, USUAL
from bench.watching.silences import SILENCES
from bench.watching.tongues import Tongue, languages, tongue


@pytest.fixture(scope="module")
def every() -> list[History]:
    return list(histories())


def test_there_are_histories_frames_and_languages_enough(every: list[History]) -> None:
    assert len(every) >= 400
    assert len({history.frame.name for history in every}) >= 60
    assert len({history.lang for history in every}) >= 15


def test_every_kind_has_histories_in_both_halves_of_the_frames(every: list[History]) -> None:
    dealt = Counter((history.kind, history.held_out) for history in every)
    assert {kind for kind, _ in dealt} == {*MORE, *SILENCES}
    assert min(dealt.values()) >= 3
    assert all(history.held_out == (history.frame.name not in tuning()) for history in every)


def test_some_histories_are_checked_often_and_some_rarely(every: list[History]) -> None:
    spacings = Counter(history.spacing for history in every)
    assert spacings[USUAL] > spacings[OFTEN] > 50
    assert spacings[SELDOM] > 50


def test_a_check_labelled_new_differs_from_the_page_before(every: list[History]) -> None:
    wrong = []
    for history in every:
        before = None
        for n, step in enumerate(history.script.steps):
            if step.settled is None:
                continue
            now = sorted(lines_of(step.settled))
            if before is not None and step.new == (now == before):
                wrong.append(f"{history.name}: {n}")
            before = now
    assert wrong == []


def test_only_reporting_kinds_have_new_checks_and_never_the_first(every: list[History]) -> None:
    assert all(any(step.new for step in history.script.steps) == history.tells for history in every)
    assert not any(history.script.steps[0].new for history in every)


def test_a_check_shows_the_figures_of_its_document(every: list[History]) -> None:
    import html

    for history in every[::7]:
        for n in (0, len(history.script.steps) - 1):
            document, shown = history.document(n), html.unescape(history.html(n).decode())
            words = [word for line in lines_of(document) for word in line.split()]
            assert [word for word in words if word not in shown] == [], history.name


def test_the_same_histories_are_made_each_time(every: list[History]) -> None:
    again = list(histories())
    assert [history.name for history in again] == [history.name for history in every]
    pairs = list(zip(every, again, strict=True))[::11]
    assert all(a.html(n, again=b) == c.html(n, again=b) for a, c in pairs for n in (0, 5) for b in (False, True))


def test_noise_is_drawn_again_for_the_second_check(every: list[History]) -> None:
    tokens = [history for history in every if history.kind == "token"]
    assert all(history.html(3) != history.html(3, again=True) for history in tokens)


def test_frames_differ_in_their_markup() -> None:
    doc = NOUNS["pricing"](tongue("en"), __import__("random").Random(1))
    assert len({frame.render(doc) for frame in FRAMES}) == len(FRAMES) >= 60


@pytest.mark.parametrize("lang", languages())
def test_a_language_has_all_words_and_its_edits_are_in_its_prose(lang: str) -> None:
    words = tongue(lang)
    pieces = {"jobs": 10, "people": 7, "roles": 6, "features": 7, "products": 6, "stock": 4, "services": 5, "states": 4}
    pieces |= {"days": 7, "rooms": 4, "vacant": 3, "flats": 6, "stops": 5, "board": 7, "headlines": 7, "notes": 6}
    pieces |= {"months": 12, "prose": 7, "edits": 3, "gatherings": 5, "fees": 5, "files": 4, "quotes": 6, "heroes": 3}
    pieces |= {"nav": 5, "plans": 3, "places": 4, "incidents": 3, "captchas": 4, "login": 4, "error": 3, "home": 5}
    assert {name: len(set(getattr(words, name))) for name in pieces} == pieces
    for edit in (*words.edits, words.negation):
        old, new = edit.split(" => ")
        assert sum(old in line for line in words.prose) == 1, edit
        assert old != new


def test_languages_do_not_repeat_each_other() -> None:
    first: dict[str, str] = {}
    shared = []
    for lang in languages():
        for text in _sentences(tongue(lang)):
            if first.setdefault(text, lang) != lang:
                shared.append(text)
    assert shared == []


def _sentences(words: Tongue) -> set[str]:
    return {*words.prose, *words.quotes, *words.headlines, *words.board, *words.incidents, words.blurb, words.works}


@pytest.mark.parametrize(
    ("labels", "told", "expected"),
    [
        ("..n....", "...t...", ((), ())),
        ("..n....", "......t", ((2,), (6,))),
        ("..n....", "..t.t..", ((), (4,))),
        ("..n.n..", ".....t.", ((2,), ())),
        (".......", "...t...", ((), (3,))),
    ],
)
def test_a_change_is_reported_by_its_check_or_one_of_the_next_three(
    labels: str, told: str, expected: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    assert matched([mark == "n" for mark in labels], [mark == "t" for mark in told], 3) == expected
