"""Walls and errors need two signs in any language; other short pages are read."""

from __future__ import annotations

import pytest

from actors.content.pages.walls import WORDS as LISTS
from tests.actors.content.written_pages import PROSE, html, reading

WORDS = {name: {kind: said.split("|") for kind, said in kinds.items()} for name, kinds in LISTS.items()}
LANGUAGES = sorted(WORDS)


def trouble(title: str, *blocks: str, head: str = "", around: str = "{}") -> str:
    """Return the trouble of a page whose title is no heading."""
    page = html(*blocks, head=head, around=around).replace(b"<h1>The shore</h1>", b"")
    return str(reading(page.replace(b"<title>The shore", f"<title>{title}".encode())).trouble or "")


def test_an_error_page_of_each_language_is_trouble(subtests: pytest.Subtests) -> None:
    for language in LANGUAGES:
        with subtests.test(language):
            for phrase in WORDS[language]["error"]:
                spoken = phrase.replace("*", "").capitalize()
                assert "error text" in trouble(f"{spoken} | Shore", "Shore"), phrase
                assert trouble("Shore", spoken, "Shore"), phrase


def test_a_challenge_a_consent_wall_and_a_site_in_repair_are_trouble_in_each_language(
    subtests: pytest.Subtests,
) -> None:
    for language in LANGUAGES:
        with subtests.test(language):
            for kind in ("challenge", "consent", "maintenance"):
                phrase = WORDS[language][kind][0].replace("*", "")
                assert trouble(f"{phrase} – Shore", "Shore"), phrase


def test_the_same_words_in_the_title_of_a_page_with_text_are_none(subtests: pytest.Subtests) -> None:
    for language in LANGUAGES:
        with subtests.test(language):
            for kind in ("error", "challenge", "consent", "maintenance", "redirect", "loading"):
                assert not trouble(f"{WORDS[language][kind][0].replace('*', '')} | Shore", *(PROSE * 3))


def test_an_unavailable_product_is_no_error(subtests: pytest.Subtests) -> None:
    for language in LANGUAGES:
        with subtests.test(language):
            for phrase in WORDS[language]["unavailable"]:
                if language == "en":
                    continue
                spoken = phrase.replace("*", "")
                assert not trouble(f"Sandals | {spoken}", "Sandals", spoken, "$ 12"), phrase


def test_a_page_that_announces_and_makes_a_redirect_fails() -> None:
    away = '<meta http-equiv="refresh" content="3; url=https://shore.example/new">'
    assert "leads to another page: https://shore.example/new" in trouble("Weiterleitung", "Bitte", head=away)
    assert "leads to" in trouble("Shore", "You should be redirected quickly, if not click here.", head=away)
    assert not trouble("Weiterleitung", "Bitte")
    assert not trouble("Departures", "10:20 Bergen", head=away)


def test_a_shell_that_says_it_loads_needs_scripts_and_a_page_that_says_so_does_not() -> None:
    shell = '<div id="app">{}</div><script src="/app.js"></script>'
    assert "JavaScript" in trouble("Shore", "Загрузка...", around=shell)
    assert not trouble("Shore", "Загрузка...")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Anmeldung zum Kurs", "Name und E-Mail"),
        ("Scheduled maintenance window of March", "Nothing is planned"),
        ("Accesso al museo", "Dalle 9 alle 18"),
        ("404 ways to cook fish", "Fish"),
        ("Sandalen", "Nicht verfügbar"),
        ("Вход в музей", "Свободный"),
        ("Betriebsstatus", "Alle Dienste laufen"),
    ],
)
def test_a_short_page_about_something_is_read(title: str, text: str) -> None:
    assert not trouble(title, text)
