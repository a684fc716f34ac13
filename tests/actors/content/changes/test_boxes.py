"""Banners, boxes and rows, recognised by their position and how long they stay, whatever their words or script."""

from __future__ import annotations

import random

import pytest

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.changes.memory import PageMemory, decode_memory, encode
from actors.content.changes.swaps import CheckMoment
from actors.content.messages import PageRequest
from actors.content.tasks import look_page
from tests.actors.content.written_pages import html, reading

MINUTE = 60_000
NAMES = ("north", "south", "east", "west")
LETTERS = ("abdeghiklmnoprstu", "абвгдежиклмнопрсту", "αβγδεζικλμνοπρστ", "אבגדהזחטכלמנסעפ", "აბგდევზთიკლმნოპრ")


class Watched:
    """A page with a list under a heading, and optional blocks above the heading and after the list."""

    def __init__(self, *entries: str, heading: str = "<h1>{}</h1>", title: str = "Open positions") -> None:
        self.memory: PageMemory | None = None
        self.at, self.entries, self.heading, self.title = 1_800_000_000_000, entries, heading, title
        self.look()

    def look(self, above: str = "", below: str = "", after: int = 20) -> ChangeVerdict:
        self.at += after * MINUTE
        entries = "".join(f"<li>{entry}</li>" for entry in self.entries)
        body = f"{above}{self.heading.format(self.title)}<ul>{entries}</ul>{below}"
        page = f"<!DOCTYPE html><html><head><title>{self.title}</title></head><body>{body}</body></html>".encode()
        stored = None if self.memory is None else decode_memory(encode(self.memory))
        verdict = judge(stored, reading(page), when=CheckMoment(0, self.at))
        self.memory = verdict.memory
        return verdict


def sentence(dice: random.Random, words: int = 9) -> str:
    letters = dice.choice(LETTERS)
    return " ".join("".join(dice.choices(letters, k=dice.randint(4, 9))) for _ in range(words)).capitalize()


@pytest.mark.parametrize("seed", range(24))
def test_a_banner_above_the_heading_that_comes_and_goes_is_never_reported(seed: int) -> None:
    dice = random.Random(seed)
    heading = dice.choice(("<h1>{}</h1>", "<div class=x>{}</div>", "<p><b>{}</b></p>"))
    page = Watched(*(sentence(dice, 2) for _ in range(5)), heading=heading, title=sentence(dice, 3))
    kinds = []
    for _ in range(4):
        texts = [sentence(dice, dice.randint(2, 14)) for _ in range(dice.randint(1, 3))]
        banner = f"<div>{''.join(f'<p>{text}</p>' for text in texts)}</div>"
        kinds += [page.look(banner).kind for _ in range(dice.randint(1, 5))]
        kinds += [page.look().kind for _ in range(dice.randint(1, 3))]
    assert "changed" not in kinds
    assert kinds[-1] == "unchanged"


def test_a_banner_above_the_heading_that_lasts_is_reported_once() -> None:
    page = Watched("Cook", "Pilot", "Recruiter")
    kinds = [page.look("<p>We close this shop for good at the end of June.</p>").kind for _ in range(14)]
    assert kinds.count("changed") == 1
    assert kinds.index("changed") > 4


def test_a_new_list_entry_is_reported_at_once_despite_a_banner() -> None:
    page = Watched("Cook", "Pilot", "Recruiter")
    page.entries = ("Net Mender", *page.entries)
    assert page.look("<p>Plain works on Sunday night between two and four.</p>").kind == "changed"


@pytest.mark.parametrize("seed", range(12))
def test_a_box_that_one_visitor_in_two_gets_is_never_reported(seed: int) -> None:
    dice = random.Random(seed)
    page = Watched(*(sentence(dice, 2) for _ in range(5)), title=sentence(dice, 3))
    box = f"<div><p>{sentence(dice, 8)}</p></div>"
    kinds = [page.look(below=box if n % 2 else "").kind for n in range(12)]
    assert "changed" not in kinds


def test_a_new_note_that_stays_is_reported_by_the_third_check() -> None:
    page = Watched("Cook", "Pilot", "Recruiter")
    kinds = [page.look(below="<p>The office is closed on all days of Easter.</p>").kind for _ in range(3)]
    assert kinds == ["held", "held", "changed"]


def test_a_box_of_random_teasers_is_hardly_ever_reported() -> None:
    told = looks = 0
    for seed in range(12):
        dice = random.Random(seed)
        names = [sentence(dice, 2) for _ in range(12)]
        page = Watched(*(sentence(dice, 2) for _ in range(5)), title=sentence(dice, 3))
        page.memory = None
        for _ in range(14):
            drawn = "".join(f"<p>{name}</p>" for name in dice.sample(names, 3))
            told += page.look(below=f"<section><p>{names[0]} and more</p>{drawn}</section>").kind == "changed"
            looks += 1
    assert told <= 0.05 * looks


@pytest.mark.parametrize("order", ["<p>{0}</p><p>{1}</p>", "<p>{1}</p><p>{0}</p>"])
def test_the_date_of_one_row_that_is_another_date_is_reported_also_when_it_is_past(order: str) -> None:
    def rows(*dates: str) -> str:
        return "".join(
            f"<div><p>Report of the {n}</p><p>{date}</p></div>" for n, date in zip(NAMES, dates, strict=True)
        )

    page = Watched()
    page.memory = None
    page.look(below=rows(*["12 May 2025"] * 4))
    assert page.look(below=rows("12 May 2025", "4 March 2026", "12 May 2025", "12 May 2025")).kind == "changed"


def test_dates_that_all_become_the_day_of_the_check_are_not_reported() -> None:
    def rows(date: str) -> str:
        return "".join(f"<div><p>Report of the {n}</p><p>{date}</p></div>" for n in NAMES)

    page = Watched()
    page.memory = None
    page.look(below=rows("12 May 2025"))
    assert page.look(below=rows("4 March 2026")).kind != "changed"


def test_reported_blocks_that_become_boilerplate_are_not_removed() -> None:
    links = "".join(f"<li><a href='/{n}'>Harbour {n}</a></li>" for n in ("one", "two", "six", "ten"))
    page = Watched("Cook", "Pilot", "Recruiter")
    page.memory = None
    page.look(below=f"<ul>{links}</ul>")
    assert page.look(below=f"<nav><ul>{links}</ul></nav>").kind == "unchanged"


def test_a_lasting_login_page_is_reported_once_then_fails_until_the_page_returns() -> None:
    page = Watched(*(f"Net Mender of boat number {n}" for n in range(12)))
    entries, title = page.entries, page.title
    page.entries, page.title = (), "Войдите в свою учётную запись, чтобы продолжить"
    verdicts = [page.look(below="<p>Попробуйте ещё раз через несколько минут.</p>") for _ in range(18)]
    kinds = [verdict.kind for verdict in verdicts]
    assert (kinds.count("moved"), kinds.index("moved"), verdicts[12].moved_to) == (1, 12, "")
    assert {str(verdict.trouble) for verdict in verdicts[13:]} == {"a login stands in its place"}
    page.entries, page.title = entries, title
    back = page.look()
    assert (back.kind, back.trouble) == ("changed", None)
    assert page.look().kind == "unchanged"


def test_a_held_rotation_appears_in_the_sources_health() -> None:
    memory, remarks = None, []
    for n, face in enumerate(("red", "old", "new", "tall", "dry", "wet")):
        page = html("Opened in 1901", f"Tip of the day: oil your {face} boots before the {face} tide comes in")
        answer = look_page(PageRequest(page, "text/html", "https://shore.example/", memory=memory, at=n * MINUTE))
        memory = answer.memory
        remarks.append(answer.remark)
    assert remarks[0] == ""
    assert "another text at nearly every check" in remarks[-1]


def test_in_the_first_checks_a_replaced_text_must_stay_one_check_longer() -> None:
    def kinds(*shown: str) -> list[str]:
        page = Watched("Cook", "Pilot", "Recruiter")
        page.memory = None
        return [page.look(below=f"<p>{text}</p>").kind for text in shown]

    one, other = (
        "Whoever waits for the tide eats late in the evening",
        "Our nets are mended by hand since years and years",
    )
    assert kinds(one, *[other] * 4) == ["baseline", "held", "held", "held", "changed"]
    assert kinds(*[one] * 9, *[other] * 3)[-3:] == ["held", "held", "changed"]
