"""Blocks recognised by their neighbours: offers between menus, a redesign, the page's end and its footer."""

from __future__ import annotations

import pytest

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.pages.traits import FURNITURE
from tests.actors.content.written_pages import PROSE, html, look, looks, reading

SILENT = ("unchanged", "churn")
SECTIONS = ("Shore", "Birds", "Tides", "Rings", "Counts", "Maps", "Members", "Archive")
JOBS = ("Head of Sales", "Recruiter", "Office Manager", "Night Guard", "Harbour Pilot", "Boat Builder")
LIST = "".join(f"<li>{job} at the {place}</li>" for job in JOBS for place in ("old pier", "new pier", "lighthouse"))
OFFER = '<div><a href="/o">Half the price for members until Sunday!</a></div><div><a href="/o">Take it</a></div>'
COOKIES = "We use cookies to measure how many people read this page and which of its parts they like best of all."


def menu(*more: str, tag: str = "nav") -> str:
    items = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in (*SECTIONS, *more))
    return f"<{tag}><ul>{items}</ul></{tag}>"


def after(one: bytes, other: bytes) -> ChangeVerdict:
    return judge(judge(None, reading(one)).memory, reading(other))


def test_links_between_menus_appear_and_disappear_without_an_event() -> None:
    with_offer, without = (
        html(f"<ul>{LIST}</ul>", *PROSE[:3], around=menu() + offer + menu() + "{}") for offer in (OFFER, "")
    )
    assert after(without, with_offer).kind in SILENT
    assert after(with_offer, without).kind in SILENT
    amid = html(f"<ul>{LIST}</ul>", OFFER, *PROSE[:3], around=menu() + menu() + "{}")
    verdict = judge(None, reading(without))
    kinds = []
    for _ in range(3):  # the judge holds a box in the content for one more check
        verdict = judge(verdict.memory, reading(amid))
        kinds.append(verdict.kind)
    assert kinds[-1] == "changed"


def test_headlines_between_boxes_of_links_are_content() -> None:
    boxed = "".join(f'<div><a href="/{job}">{job} wanted at the shore</a></div>{menu()}' for job in JOBS)
    traits = dict(zip((read := reading(html(around=menu() + boxed + "{}"))).blocks, read.traits, strict=True))
    assert not any(traits[f"{job} wanted at the shore"] & FURNITURE for job in JOBS)


def test_a_block_that_went_with_a_known_menu_went_with_the_menu() -> None:
    was = html(f"<ul>{LIST}</ul>", around=menu("What is new on this shore this year", tag="div") + "{}")
    now = html(f"<ul>{LIST}</ul>", around=menu() + "{}")
    assert after(was, now).kind in SILENT
    gone = html(f"<ul>{LIST.replace('<li>Recruiter at the old pier</li>', '')}</ul>", around=menu() + "{}")
    assert after(was, gone).kind == "changed"


def test_a_redesign_hides_its_new_labels_but_no_new_paragraph() -> None:
    jobs = "".join(f"<li>{job}</li>" for job in JOBS)
    plain = html(f"<ul>{jobs}</ul>", around=menu() + "{}")
    other = html(f"<ul>{jobs}</ul>", around=menu("Home", "Your account", tag="div") + "{}")
    assert after(plain, other).kind in SILENT
    told = html(f"<ul>{jobs}</ul>", PROSE[0], around=menu("Home", tag="div") + "{}")
    assert after(plain, told).kind == "changed"


@pytest.mark.parametrize(
    ("was", "now", "kinds"),
    [
        ("7. Disclaimers", "8. Disclaimers", ("changed",)),
        ("7 readers", "8 readers", SILENT),
        ("Last revised on January 3, 2025.", "Last revised on January 0, 2025.", ("changed",)),
    ],
)
def test_behind_the_last_paragraph_a_section_and_a_date_count_and_figures_wait(
    was: str, now: str, kinds: tuple[str, ...]
) -> None:
    assert looks(None, (*PROSE, was), (*PROSE, now))[-1].kind in kinds


def test_a_paragraph_about_copyright_is_not_the_foot_of_its_page() -> None:
    about = "Whoever holds the copyright of a text that a member has sent may ask the society to take it down " * 2
    many = [f"{text} On stretch {n}." for n in range(6) for text in PROSE]
    was, now = ((*many, about, f"Places left: {n}", *PROSE) for n in (12, 11))
    assert looks(None, was, now)[-1].kind == "changed"


def test_a_heading_between_the_last_paragraph_and_a_cookie_banner_ends_the_text() -> None:
    offer = ("<h2>Walk with us</h2>", "Book now", "Ask us")
    was, now = ((*PROSE, *offer, *more, COOKIES) for more in ((), ("The first guided shore walk in town",)))
    assert looks(None, was, now)[-1].kind in SILENT


def test_one_sentence_about_cookies_is_a_banner_and_a_page_about_them_is_read() -> None:
    jobs = tuple(f"<p>{job}</p>" for job in JOBS)
    assert looks(None, jobs, (*jobs, COOKIES))[-1].kind in SILENT
    about = ("Session cookies", "Cookies of others", "Cookies for ever", *jobs)
    assert looks(None, about, (*about, COOKIES))[-1].kind == "changed"


def test_a_removal_from_a_rotating_place_is_not_reported() -> None:
    drawn = ("Buy sea shells by the pound", "Win two nights in a lighthouse", "Ask for our new catalogue of nets")
    pages = [(*JOBS[:3], f"<div>{one}</div>", *JOBS[3:]) for one in drawn]
    memory, number = None, 0
    for number, page in enumerate(pages, 1):
        memory = look(memory, *page, number=number).memory
    assert look(memory, *JOBS, number=number + 1).kind in SILENT


def test_a_release_withdrawn_at_once_is_reported_as_reverted() -> None:
    steps = tuple(f"<li>Step {n} of the way to count ringed birds at high tide</li>" for n in range(4))
    old, new = "3.2.3 is the latest release of our counter.", "3.3.0 is the latest release of our counter."
    many = tuple(f"{text} On stretch {n}." for n in range(3) for text in PROSE)
    first, second = (old, *many), (new, *many, "<ul>" + "".join(steps) + "</ul>")
    told = looks(None, first, second, first)
    assert [verdict.kind for verdict in told[1:]] == ["changed", "changed"]
    assert told[-1].reverted
