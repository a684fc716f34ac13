"""Checks that skip the judge: the page reads as before, so the verdict is known."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.content import tasks
from actors.content.changes import churn
from actors.content.messages import PageLook, PageRequest, StandIn
from actors.content.tasks import look_page
from tests.actors.content.written_pages import PROSE

SILENT = {"unchanged", "churn"}
MINUTE, HOUR = 60_000, 3_600_000
WORDS = " ".join(["The society keeps a list of all birds that were ringed on the northern dune."] * 12)
PAGE = (
    "<!DOCTYPE html><html lang=en><head><title>{title}</title>{head}</head><body class='{body}'>"
    "<script nonce='{nonce}'>let at = '{nonce}'</script><!-- {nonce} -->{top}<nav id=n>{nav}</nav>"
    "<div hidden>{unseen}</div><main data-at='{nonce}'><h1>Birds</h1>{long}{blocks}</main></body></html>"
)
USUAL = {"title": "Birds", "head": "", "body": "", "nonce": "1", "top": "", "nav": "Home", "unseen": "", "long": ""}
BLOCKS = (
    *PROSE[:2],
    "<p>From $9 a month</p>",
    "<p>From $12 a month</p>",
    "<p>12 readers</p>",
    "<p>14 readers</p>",
    "<h2>Updated 3 minutes ago</h2>",
    "<h2>Updated 9 minutes ago</h2>",
    "<table><tr><th>Deadline<td>30 June</table>",
    "<table><tr><th>Deadline<td>9 July</table>",
    "<p class=d-none>Unseen</p>",
    "<p>Report <a href='/a.pdf?v=1'>here</a></p>",
    "<p>Report <a href='/b.pdf?v=2'>here</a></p>",
)
EDITS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("nonce", ("1", "2", "3")),
    ("title", ("Birds", "Log in", "404 Not found")),
    (
        "head",
        (
            "",
            "<meta name=author content=Ada>",
            "<link rel=canonical href=/b>",
            "<meta http-equiv=refresh content='0;url=/c'>",
        ),
    ),
    ("body", ("", "nav-open", "v2")),
    ("top", ("", "<a href='#main' class=skip>Skip</a>", "<a href='#x'>To x</a>")),
    ("nav", ("Home", "<a href=/a>Birds</a>", "Home " * 9)),
    ("unseen", ("", "Cookies", "<input type=password>")),
)


def page(blocks: list[str], **values: str) -> bytes:
    return PAGE.format(**{**USUAL, **values, "blocks": "".join(f"<div>{block}</div>" for block in blocks)}).encode()


def ask(body: bytes, memory: bytes | None, number: int = 0, **more: Any) -> PageLook:
    at = 1_700_000_000_000 + number * HOUR
    return look_page(
        PageRequest(body, "text/html", "https://shore.example/", memory=memory, number=number, at=at, **more)
    )


@st.composite
def histories(draw: st.DrawFn) -> list[bytes]:
    """Return versions of a page with small edits, many of them reverted later."""
    chance = random.Random(draw(st.integers(0, 1 << 32)))
    blocks, values = chance.sample(BLOCKS, 4), {"long": f"<p>{WORDS}</p>" if chance.random() < 0.8 else ""}
    first, looks = page(blocks, **values), list[bytes]()
    for _ in range(draw(st.integers(2, 14))):
        kind = chance.random()
        if kind < 0.5:
            name, choice = chance.choice(EDITS)
            values[name] = chance.choice(choice)
        elif kind < 0.75:
            blocks[chance.randrange(len(blocks))] = chance.choice(BLOCKS)
        looks.append(first if kind > 0.95 else page(blocks, **values))
    return [first, *looks]


@settings(max_examples=300, deadline=None)
@given(
    histories(),
    st.randoms(use_true_random=False),
    st.sampled_from([None, "main"]),
    st.sampled_from([(), ("nav",)]),
)
def test_a_recognised_check_has_the_verdict_and_memory_of_the_judge(
    looks: list[bytes], chance: random.Random, selector: str | None, ignore: tuple[str, ...]
) -> None:
    """Both start from the same memory each time, so a difference shows at the check that causes it."""
    part: dict[str, Any] = {"selector": selector, "ignore": ignore}
    look, number = ask(looks[0], None, 1, **part), 1
    for body in looks[1:]:
        for _ in range(chance.choice((1, 1, 2, 5))):
            number += chance.choice((1, 1, 2, 9))
            more = {**part, "noise": () if chance.random() < 0.9 else ("0" * 16,)}
            memory, last = look.memory, look.digests
            look, judged = ask(body, memory, number, last=last, **more), ask(body, memory, number, **more)
            assert look.memory == judged.memory
            assert (look.kind in SILENT, look.delta, look.unsettled, look.trouble, look.remark) == (
                judged.kind in SILENT, judged.delta, judged.unsettled, judged.trouble, judged.remark,
            )  # fmt: skip
            assert look.title in {"", judged.title}


def test_an_unnumbered_check_has_no_digests() -> None:
    """It counts checks in its memory, so no check leaves that as it was."""
    look = ask(page(list(BLOCKS[:3]), long=WORDS), None)
    assert not ask(page(list(BLOCKS[:3]), long=WORDS), look.memory).digests


@pytest.fixture
def unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every judgement fail."""

    def judge(*_: object, **__: object) -> None:
        raise AssertionError("judged")

    monkeypatch.setattr(tasks, "judge", judge)


FIRST = ask(page(list(BLOCKS[:3]), long=WORDS), None, 1)
TOLD, LAST = FIRST.memory, FIRST.digests


@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize(
    "values",
    [
        {"nonce": "other"},
        {"unseen": "A window that asks for consent"},
        {"body": "theme-dark"},
        {"head": "<style>p { color: red }</style><script>let x = 1</script>"},
    ],
    ids=["nonces, comments, scripts", "what is hidden", "a class", "styles"],
)
def test_unread_text_is_not_judged(values: dict[str, str]) -> None:
    look = ask(page(list(BLOCKS[:3]), **{"long": WORDS, **values}), TOLD, 2, last=LAST)
    assert (look.kind, look.reason) == ("unchanged", "Every block is as it was.")
    assert look.memory == TOLD


@pytest.mark.usefixtures("unjudged")
def test_a_page_that_differs_in_code_and_comments_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("actors.content.pages.page.walk")
    look = ask(page(list(BLOCKS[:3]), long=WORDS, nonce="other"), TOLD, 2, last=LAST)
    assert (look.kind, look.memory) == ("unchanged", TOLD)


@pytest.mark.usefixtures("unjudged")
def test_an_author_is_read_in_an_unjudged_check() -> None:
    head = "<meta name=author content=Ada><meta name=date content=2026-05-01>"
    look = ask(page(list(BLOCKS[:3]), long=WORDS, head=head), TOLD, 2, last=LAST)
    assert (look.author, look.published_at is not None) == ("Ada", True)


@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize(
    "body",
    [
        page(list(BLOCKS[1:4]), long=WORDS),
        page([f"<section class=related>{BLOCKS[0]}</section>", *BLOCKS[1:3]], long=WORDS),
        page(list(BLOCKS[:3]), long=WORDS, nav="Home and away"),
        page([*BLOCKS[:2], "<p hidden>From $9 a month</p>"], long=WORDS),
    ],
    ids=["a text", "what makes furniture", "furniture", "what is hidden now"],
)
def test_read_text_is_judged(body: bytes) -> None:
    with pytest.raises(AssertionError, match="judged"):
        ask(body, TOLD, 2, last=LAST)


def test_on_a_page_of_few_words_all_signs_of_a_wall_are_read() -> None:
    short = ["<p>Members of the society find their lists of birds here.</p>"]
    told = ask(page(short), None, 1)
    again = ask(page(short, nonce="2"), told.memory, 2, last=told.digests)
    walled = ask(page(short, unseen="<input type=password>"), again.memory, 3, last=again.digests)
    assert (again.trouble, walled.trouble) == (None, StandIn("login", "login wall"))


def test_unreported_moves_store_nothing() -> None:
    look = FIRST
    for number in range(2, 40):
        moved = page(list(BLOCKS[:3]), long=WORDS, nav=f"Home {'away ' * number}")
        look = ask(moved, look.memory, number, last=look.digests)
        assert (look.kind, look.memory) == ("unchanged", TOLD)


def test_a_page_that_differs_in_nothing_else_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    head = "<meta name=author content=Ada><script>let at = {}</script>"
    told = ask(page(list(BLOCKS[:3]), long=WORDS, head=head.format("12")), None, 1)
    monkeypatch.delattr("actors.content.bodies.markup._parsed")
    code = page(list(BLOCKS[:3]), long=WORDS, head=head.format("'<p>'"))
    look = ask(code, told.memory, 2, last=told.digests)
    assert (look.kind, look.title, look.memory) == ("unchanged", "", told.memory)


WAITING = page([*BLOCKS[:3], BLOCKS[4]], long=WORDS)
"""The page of TOLD with a figure that is never reported."""
SETTLED = 11  # from this check on, no rule counts its checks any more


def settled(**more: Any) -> PageLook:
    look = ask(WAITING, TOLD, 2, **more)
    for number in range(3, SETTLED):
        look = ask(WAITING, look.memory, number, last=look.digests, **more)
    return look


@pytest.mark.parametrize(
    ("changed", "judged"),
    [
        ({}, False),
        ({"body": page([*BLOCKS[:3], BLOCKS[4]], long=WORDS, nonce="2")}, False),
        ({"body": page([*BLOCKS[:3], BLOCKS[4]], long=WORDS, body="v2")}, False),
        ({"body": page([*BLOCKS[:3], BLOCKS[5]], long=WORDS)}, True),
        ({"body": page([*BLOCKS[:3], BLOCKS[4]], long=WORDS, head="<link rel=canonical href=/b>")}, True),
        ({"number": SETTLED + 24}, True),
        ({"bar": 0.2}, True),
        ({"shared": ("0" * 16,)}, True),
        ({"noise": ("0" * 16,)}, True),
        ({"selector": "main"}, True),
    ],
    ids=["same", "a nonce", "a class", "text", "canonical", "next day", "bar", "shared", "noise", "part"],
)
def test_a_lasting_difference_is_judged_once_for_each_state(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], judged: bool
) -> None:
    look, calls = settled(), list[object]()
    judge = churn.judge
    monkeypatch.setattr(tasks, "judge", lambda *found, **more: calls.append(found) or judge(*found, **more))
    request = {"body": WAITING, "number": SETTLED, **changed}
    after = ask(request.pop("body"), look.memory, last=look.digests, **request)
    assert (bool(calls), after.kind) == (judged, "churn" if judged else "unchanged")
    assert judged or after.memory == look.memory


def test_digests_of_another_memory_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    look = settled()
    monkeypatch.delattr(tasks, "judge")
    with pytest.raises(NameError):
        ask(WAITING, TOLD, SETTLED, last=look.digests)


def test_a_page_whose_differences_may_still_count_gets_no_digests() -> None:
    label = page([*BLOCKS[:3], "<p>Menu</p>"], long=WORDS)
    kinds, look = list[str](), ask(label, TOLD, 2)
    for number in range(3, 6):
        kinds.append(look.kind)
        assert bool(look.digests) == (look.kind == "changed")
        look = ask(label, look.memory, number, last=look.digests)
    assert kinds == ["churn", "churn", "changed"]
