"""Empty shells against pages with text: hand-written pages, and generated pages with a held-out part."""

from __future__ import annotations

import pytest

from actors.content.detection import detect
from actors.sources.checks.rendering import may_be_shell
from tests.data.shells import BY_HAND, Labelled, drawn

HELD_OUT = 7
"""A seed of pages that no rule was tuned on."""


def is_found(page: str) -> bool:
    """Both the quick test and the full reading must recognise a shell, as in a check."""
    body = page.encode()
    return may_be_shell(body) and bool(detect(body, "text/html", "https://site.example/").shell)


@pytest.mark.parametrize(("name", "is_shell", "page"), BY_HAND, ids=[row[0] for row in BY_HAND])
def test_a_page_as_common_tools_put_it_out(name: str, is_shell: bool, page: str) -> None:
    assert is_found(page) is is_shell


@pytest.mark.parametrize("seed", [0, HELD_OUT])
def test_shells_among_drawn_pages_are_found_with_a_precision_of_95_in_a_hundred(seed: int) -> None:
    rows: list[Labelled] = list(drawn(400, seed))
    found = [row for row in rows if is_found(row[2])]
    right = sum(is_shell for _, is_shell, _ in found)
    assert right / len(found) >= 0.95, [name for name, is_shell, _ in found if not is_shell][:5]
    assert right / sum(is_shell for _, is_shell, _ in rows) >= 0.9


def test_a_shell_names_its_evidence() -> None:
    says = {name: detect(page.encode(), "text/html", "https://site.example/").shell for name, _, page in BY_HAND}
    assert says["vite"] == "<div id=app> is empty until its scripts run"
    assert says["angular"] == "<app-root> is empty until its scripts run"
    assert says["it says so"] == "it says that it needs JavaScript"
    assert says["flutter"] == "it has scripts and no text"
    assert says["a challenge"] == ""


def test_a_page_with_text_is_no_shell() -> None:
    assert not may_be_shell(b"<script src=a.js></script>" + b"<p>A word and another one.</p>" * 100)
