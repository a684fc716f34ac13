"""Names added, removed or replaced, and capitals that are no names."""

from __future__ import annotations

import pytest

from actors.content.values.reading import Writing, names_in, same_wording


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", "CEO: Jane Doe", "CEO: John A. Smith"),
        ("en", "Harbour Group, LLC", "Tinder - Harbour Group, LLC"),
        ("en", "the Apache Struts team says so", "the Apache Struts Security team says so"),
        ("en", "made by Apple for all", "made by Apple/Google for all"),
        (
            "en",
            "Send it to LOVO GmbH, Prager Gate 10, 01069 Dresden",
            "Send it to PE Wide GmbH, Spear 10, 20095 Hamburg",
        ),
        ("en", "San Rico, CA, USA", "San Rico, CA 94114"),
        ("en", "Uptime Robot s. r. o.", "UptimeRobot s. r. o."),
        ("de", "SOPG GbR", "moinbits GbR"),
        ("de", "nach Paragraf 25 TTDSG erlaubt", "nach Paragraf 25 TDDDG erlaubt"),
        ("de", "Text von Karin Mantel", "Text von Bastian Tigges"),
        ("de", "bei der CRIF Fisch GmbH gespeichert", "bei der CRIF GmbH gespeichert"),
        ("fr", "les sociétés du Groupe Match travaillent", "les sociétés de Match Group travaillent"),
    ],
)
def test_names_are_known_by_capitals_and_by_their_neighbours(language: str, before: str, after: str) -> None:
    assert names_in(before, after, Writing(language)) is not None


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", "Your Rights", "Your Rights and Choices"),
        ("en", "MORE FOR PEOPLE IN EUROPE", "MORE FOR PEOPLE IN CITIES"),
        (
            "en",
            "Prohibited Activities You may not use it for anything harmful",
            "You may not use it for anything harmful",
        ),
        ("en", "It opens before Easter.", "It opens before June."),
        ("en", "It rained. Two people came", "It rained. Six people came"),
        ("de", "zum Arbeitsblatt", "zum Artikel"),
        ("de", "Das ist die neue Grünen-Spitze", "Das ist die neue Grünenspitze"),
        ("de", "Haltung", "Musik und Haltung"),
        ("de", "Ein Hund im Park", "Ein junger Hund im Park"),
    ],
)
def test_a_capital_by_itself_is_no_name(language: str, before: str, after: str) -> None:
    assert names_in(before, after, Writing(language)) is None


def test_figures_and_words_that_join_others_say_nothing_new() -> None:
    assert same_wording("à partir du 11/08/2024", "à partir de 01/02/2026")
    assert not same_wording("12 pages", "13 leaves")
