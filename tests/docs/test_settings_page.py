"""docs/settings.md is exactly the table of settings."""

from __future__ import annotations

from sanderling.settings_shown import as_markdown
from tests.rules.source_files import ROOT


def test_the_reference_page_matches_the_table() -> None:
    page = (ROOT / "docs/settings.md").read_text("utf-8")
    assert page == as_markdown(), "run: bin/sanderling settings --markdown > docs/settings.md"
