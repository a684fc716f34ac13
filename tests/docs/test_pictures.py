"""The manual's pictures are as new as the templates they show."""

from __future__ import annotations

import pytest

from tests.docs.pictures import FOLDER, SHOWS, digest, noted


@pytest.mark.parametrize("picture", list(SHOWS))
def test_a_picture_is_as_new_as_its_templates(picture: str) -> None:
    assert noted().get(picture) == digest(picture), "its templates have changed: run `make pictures`"


def test_every_drawn_picture_names_what_it_shows() -> None:
    taken = {path.name for path in FOLDER.glob("*.webp")} - {"mail.webp"}  # a letter in a mail program
    assert taken == SHOWS.keys()
