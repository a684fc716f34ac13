"""Invisible text is no block: font probes, icon names, skip links, hidden elements. Visible text stays."""

from __future__ import annotations

import random

import pytest

from actors.content.bodies.markup import is_probe
from tests.actors.content.written_pages import PROSE, html, reading


def seen(*blocks: str, around: str = "{}") -> str:
    return "\n".join(reading(html(*PROSE, *blocks, around=around)).blocks)


@pytest.mark.parametrize("name", ["home", "arrow_forward", "chevron_right", "add_shopping_cart", "360", "expand_more"])
@pytest.mark.parametrize(
    "element",
    [
        '<i class="material-icons">{}</i>',
        '<span class="material-symbols-outlined notranslate">{}</span>',
        '<mat-icon class="mat-icon material-icons">{}</mat-icon>',
        '<i class="nav-icon" aria-hidden="true">{}</i>',
    ],
)
def test_the_name_of_an_icon_is_skipped_and_the_label_next_to_it_is_read(element: str, name: str) -> None:
    if name == "360":
        assert "360 Our rooms" in seen(f"<p>{element.format(name)} Our rooms</p>")
        return
    text = seen(f"<p>{element.format(name)} Our rooms</p>")
    assert "Our rooms" in text.split("\n")
    assert name not in text


@pytest.mark.parametrize(
    "block",
    [
        '<p><span class="price-icon">sold_out</span></p>',
        '<p><span class="badge icon">new</span></p>',
        '<p><i class="material-icons">Sold out today</i></p>',
        '<p><i aria-hidden="true">sold</i></p>',
    ],
)
def test_words_that_only_stand_near_icons_are_read(block: str) -> None:
    assert any(word in seen(block) for word in ("sold", "new", "Sold out today"))


@pytest.mark.parametrize(
    "link",
    [
        '<a class="skip-link" href="#x">Zum Inhalt springen</a>',
        '<a class="c-skip-to-content" href="#x">Ugrás a tartalomhoz</a>',
        '<a href="#main">本文へ移動</a>',
        '<a href="#the-words">Pereiti prie turinio</a>',
        '<ul><li><a href="#main-content">Przejdź do treści</a></li></ul>',
    ],
)
def test_a_skip_link_at_the_start_is_not_read_in_any_language(link: str) -> None:
    page = html(*PROSE, around=link + '<div id="the-words">{}</div>')
    assert reading(page).blocks[0] == "The shore"


@pytest.mark.parametrize(
    "link",
    ['<a href="#prices">Prices</a>', '<a href="/main">Main course</a>', '<a href="#">Top</a>',
     '<a class="skip" href="/x">Skip it</a>'],
)  # fmt: skip
def test_other_links_at_the_start_are_read(link: str) -> None:
    text = seen(around=link + "{}<div id=prices>From $9</div>")
    assert any(word in text for word in ("Prices", "Main course", "Top", "Skip it"))


def test_an_in_page_link_after_the_first_words_is_read() -> None:
    assert "Our terms" in seen('<p><a href="#main">Our terms</a></p>')


@pytest.mark.parametrize(
    "hidden",
    [
        'class="visually-hidden"', 'class="sr-only"', 'class="screen-reader-text"', 'class="hidden"',
        'class="card d-none"', 'class="icon hidden"',
        'class="d-none d-print-block"', 'class="is-hidden"', 'class="uk-hidden"', 'class="element-invisible"',
        "hidden", 'style="display: none"', 'style="position:absolute;left:-9999px"',
    ],
)  # fmt: skip
def test_hidden_text_is_not_read(hidden: str) -> None:
    assert "Nobody sees this" not in seen(f"<div {hidden}><p>Nobody sees this</p></div>")


@pytest.mark.parametrize(
    "shown",
    ['class="hidden md:block"', 'class="d-none d-lg-flex"', 'class="overflow-hidden"', 'class="hidden-gems"',
     'class="hidden sm:table-cell"',
     'class="not-hidden"', 'class="skip"', "inert", "aria-hidden=false"],
)  # fmt: skip
def test_text_visible_on_a_wide_screen_is_read(shown: str) -> None:
    assert "Readers see this" in seen(f"<div {shown}><p>Readers see this</p></div>")


def test_a_page_that_is_hidden_until_a_script_has_run_is_read() -> None:
    assert PROSE[0] in seen(around='<div class="hidden">{}</div>')
    assert PROSE[0] in reading(html(*PROSE).replace(b"<body>", b'<body class="hidden">')).blocks


@pytest.mark.parametrize(
    "probe", ["mmMwWLliI0fiflO&amp;1", "mmmmmmmmmmlli", "word " * 50, "BESbswy", "giItT1WQy@!-/#", "wwwwwwwwwwww"]
)
def test_a_font_probe_is_not_read(probe: str) -> None:
    assert reading(html(*PROSE, f"<div>{probe}</div>")).blocks == reading(html(*PROSE)).blocks


def test_any_word_six_times_is_a_probe() -> None:
    rng = random.Random(6)
    for _ in range(200):
        word = "".join(rng.choice("abcдеж日本") for _ in range(rng.randrange(1, 9)))
        assert is_probe(" ".join([word] * rng.randrange(6, 40)))
        assert not is_probe(" ".join([word] * rng.randrange(1, 6)))
        assert not is_probe(" ".join([word] * 6 + [word + "x"]))


@pytest.mark.parametrize(
    "text", ["Mmm", "0 0 0 0 0 0", "* * * * * *", "-- -- -- -- -- --", "No no no", "www.shore.example", ""]
)
def test_figures_marks_and_short_words_are_no_probe(text: str) -> None:
    assert not is_probe(text)


def test_many_hidden_elements_and_links_cost_no_more_than_their_number() -> None:
    links = "".join(f'<a href="#x{n}"></a>' for n in range(20_000))
    nested = '<div class="hidden">' * 1_500 + "<h1>The deep</h1>" + "<p></p>" * 20_000
    assert reading(f"<html><body>{links}{nested}".encode()).blocks == ("The deep",)
