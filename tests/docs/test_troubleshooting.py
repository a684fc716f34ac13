"""The troubleshooting page: the product has each of its sentences, and the page has every way to fail."""

from __future__ import annotations

import re

import pytest

from actors.content.detection import _WALLS
from actors.content.messages import StandIn
from actors.content.pages import walls
from tests.rules.source_files import ROOT

PAGE = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
SOURCES = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "actors").rglob("*.py")))
ROWS = re.findall(r"^\| (.+?) \| .+ \| .+ \|$", PAGE, re.M)


def said() -> list[str]:
    """Return the pieces of sentences that the page explains."""
    return [piece for row in ROWS for piece in re.findall(r"`([^`]+)`", row) if row.startswith("`")]


@pytest.mark.parametrize("piece", said())
def test_the_product_prints_each_message_of_the_page(piece: str) -> None:
    text = re.sub(r"^answered \d+$", "answered {status} {responses.get(status, '')}", piece)
    lower = text[:1].lower() + text[1:]
    assert re.fullmatch(r"\d+", text) or text in SOURCES or lower in SOURCES


def test_there_are_some() -> None:
    assert len(said()) > 20


@pytest.mark.parametrize("kind", sorted(_WALLS))
def test_each_page_that_stands_in_for_another_is_explained(kind: str) -> None:
    stands_in = [each for each in vars(walls).values() if isinstance(each, StandIn)]
    words = {each.kind: re.split(r"[:,]| page", each.says)[0] for each in stands_in} | {"error": "error page"}
    assert words[kind] in PAGE
