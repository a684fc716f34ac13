"""The walk on the page of the architecture: which files a field of a source is named in, by the example of one."""

from __future__ import annotations

import re

from tests.rules.source_files import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
ON_THE_WAY = ("storage/records", "storage/sqlite", "actors/messages", "actors/sources/registry", "api")
NOT_OF_A_SOURCE = (
    "api/dashboard/pictures.py",  # a bar of a picture
    "api/dashboard/templates/ui.html",
    "api/openapi/texts/sources.py",  # says which fields null empties
    "api/openapi/example_reasons.py",  # the bar that a look was judged by
    "api/operations/reasons.py",
    "api/schemas/why.py",
    "storage/records/note.py",
)


def walk() -> list[str]:
    section = PAGE.partition("## One field more on a source")[2].partition("\n## ")[0]
    return re.findall(r"^\d\. `([\w/.]+)`", section, re.M)


def naming(field: str) -> set[str]:
    """Return the files on the way of a request that name a field."""
    files = (path for room in ON_THE_WAY for end in ("py", "html") for path in (ROOT / room).rglob(f"*.{end}"))
    found = {str(path.relative_to(ROOT)) for path in files if re.search(rf"\b{field}\b", path.read_text("utf-8"))}
    return found.difference(NOT_OF_A_SOURCE)


def test_a_field_of_a_source_is_named_in_the_five_files_of_the_walk_and_in_no_other() -> None:
    assert len(walk()) == 5
    assert naming("bar") == set(walk())


def test_what_is_left_out_names_a_bar_of_its_own() -> None:
    assert [name for name in NOT_OF_A_SOURCE if "bar" not in (ROOT / name).read_text("utf-8")] == []
