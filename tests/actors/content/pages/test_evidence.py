from __future__ import annotations

import pytest

from actors.content.changes.swaps import stand_in
from actors.content.pages.walls import KINDS, WORDS, Evidence, kind_of, path_of, titles_differ
from tests.actors.content.written_pages import PROSE, html, reading

EVERY = [(language, kind) for language, kinds in WORDS.items() for kind in kinds]


def test_a_page_says_its_title_its_canonical_link_and_its_language() -> None:
    page = html(
        *PROSE,
        head='<link rel="canonical" href="https://shore.example/birds/#top"><meta property="og:title" content="X">',
    )
    seen = reading(page.replace(b"<html>", b'<html lang="en-GB">'))
    assert seen.title == "X"
    assert seen.evidence == Evidence(title="The shore", canonical="/birds", language="en-gb")


def test_a_page_that_says_nothing_of_itself_has_no_evidence() -> None:
    assert reading(b"<html><body><p>Words").evidence == Evidence()


@pytest.mark.parametrize(
    ("content", "after", "to"),
    [
        ("0;url=https://shore.example/new", 0, "https://shore.example/new"),
        ("5; URL='/new'", 5, "/new"),
        ('3, "/new"', 3, "/new"),
        ("300", 300, ""),
        ("soon; url=/new", None, ""),
        ("0" * 4_000, None, ""),
    ],
)
def test_a_refresh_is_read_in_all_its_spellings(content: str, after: int | None, to: str) -> None:
    quoted = content.replace('"', "&quot;")
    seen = reading(html("x", head=f'<meta http-equiv="Refresh" content="{quoted}">')).evidence
    assert (seen.refresh_after, seen.refresh_to) == (after, to)
    assert seen.leads_away == bool(to)


def test_a_refresh_for_readers_without_scripts_is_none() -> None:
    head = '<noscript><meta http-equiv="refresh" content="0;url=/no-script"></noscript>'
    assert reading(html(*PROSE, head=head)).evidence.refresh_after is None


@pytest.mark.parametrize("address", ["/a/b", "https://x.example/a/b/", "//x.example/a/b#c", "a/b", "/%61/b"])
def test_a_canonical_path_has_one_spelling(address: str) -> None:
    assert path_of(address) == "/a/b"


def test_a_canonical_link_that_is_no_address_says_nothing() -> None:
    assert path_of("http://[broken") == ""


def test_a_page_that_scripts_fill_is_a_shell_and_a_short_page_is_none() -> None:
    shell = html("Loading", around='<div id="root">{}</div><script src=/app.js></script>')
    assert reading(shell).evidence.shell
    assert not reading(html("Closed today", around="<div id=root>{}</div>")).evidence.shell
    assert not reading(html("Closed today", around="{}<script src=/app.js></script>")).evidence.shell
    assert not reading(html(*PROSE, around='<div id="root">{}</div><script src=/app.js></script>')).evidence.shell


def test_each_phrase_of_a_language_gives_its_page_away(subtests: pytest.Subtests) -> None:
    for language, kind in EVERY:
        with subtests.test(f"{language}-{kind}"):
            for phrase in WORDS[language][kind].split("|"):
                spoken = phrase.replace("*", "").capitalize()
                seen = reading(html("Xyz", title=f"{spoken} | Shore"))
                # Some words fit two kinds: "moment" occurs in waiting pages and in questions.
                assert stand_in(seen), phrase
                assert kind_of(f"Shore: {spoken}") in KINDS


def test_every_kind_is_known_in_every_language() -> None:
    assert len(WORDS) >= 25
    assert {language: set(KINDS) - set(kinds) for language, kinds in WORDS.items() if set(KINDS) != set(kinds)} == {}


@pytest.mark.parametrize("title", ["404", "Error 404", "404 - Shore", "Oops! Page not found", "HTTP 503"])
def test_a_bare_code_and_a_little_around_it_is_an_error(title: str) -> None:
    long = [f"<p>{text}</p>" for text in PROSE * 5]
    assert stand_in(reading(html(*long, title=title))) == "error"


@pytest.mark.parametrize(
    "title",
    [
        "How to log in with a passkey",
        "404: a history of the error page",
        "Maintenance of boilers",
        "Loading dock rules",
    ],
)
def test_a_page_about_errors_is_not_one(title: str) -> None:
    assert stand_in(reading(html(*(PROSE * 5), title=title))) == ""


def test_a_page_of_little_text_is_judged_by_its_first_words_too() -> None:
    assert stand_in(reading(html("Sie werden in 5 Sekunden weitergeleitet: sie werden weitergeleitet"))) == "redirect"
    assert stand_in(reading(html(*PROSE[:2]))) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Prices | Shore", "Log in | Shore"),
        ("Prices | Shore", "Shore"),
        ("Privacy policy - Shore", "Shore: birds of the coast"),
        ("料金のご案内 | 海岸", "ログイン | 海岸"),
        ("Политика конфиденциальности — Берег", "Страница не найдена — Берег"),
        ("Terms of service", "Access denied"),
    ],
)
def test_titles_of_two_pages_differ(old: str, new: str) -> None:
    assert titles_differ(old, new)
    assert titles_differ(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Prices 2026 | Shore", "Prices 2027 | Shore"),
        ("Prices | Shore", "Prices | The Shore Company"),
        ("Prices", "Prices | Shore"),
        ("(3) Inbox news", "(4) Inbox news"),
        ("Shore", "shore"),
        ("", "Shore"),
        ("2026年度の料金のご案内", "2027年度の料金のご案内"),
        ("Préférences – Rivage", "Préférences | Rivage"),
    ],
)
def test_one_page_may_reword_its_title(old: str, new: str) -> None:
    assert not titles_differ(old, new)
    assert not titles_differ(new, old)


def test_the_title_of_a_drawing_is_not_the_page_s() -> None:
    assert reading(b"<p>x<svg><title>Arrow</title></svg>").evidence.title == ""


def test_a_page_of_many_scripts_and_hardly_a_word_is_a_shell() -> None:
    assert reading(html("Models", around="{}" + "<script src=/a.js></script>" * 5)).evidence.shell
