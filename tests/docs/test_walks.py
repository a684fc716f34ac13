"""The walks on the architecture page: the files that name a field of a source, and those of a noun, by examples."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from storage.records.tiers import TIERS
from tests.rules.source_files import ROOT, tracked

PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
ON_THE_WAY = ("storage/records", "storage/sqlite", "actors/messages", "actors/sources/registry", "api")
NOT_OF_A_SOURCE = (
    "api/dashboard/drawing.py",  # bar of a chart
    "api/dashboard/templates/ui.html",
    "api/nouns/why.py",
    "storage/records/checks.py",
)


OF_TAGS = {
    "api/dashboard/sources/one.py",
    "api/dashboard/templates/sources/tag_defaults.html",
}
"""Files that name a source's field again, because a tag may set it for all its sources."""
ORDERED = {"api/fields/sources.py"}
"""Files with the order of older fields; a new one comes last without being named."""
SOME_NOUNS = {
    "storage/sql/storage.py",  # the stores of all nouns
    "api/dashboard/notifying/destinations.py",  # names the private sources that a receiver will see
}
"""Files that import several nouns, but need no change for a new one."""


def walk(title: str = "Add a field", after: str = "", before: str = "\nA field of an alert") -> list[str]:
    section = PAGE.partition(f"## {title}")[2].partition("\n## ")[0].partition(after or "\n")[2]
    return re.findall(r"^\d+\. `([\w/.]+)`", section.partition(before)[0], re.M)


def naming(field: str) -> set[str]:
    """Return the files in a request's path that name a field."""
    files = (path for room in ON_THE_WAY for end in ("py", "html") for path in (ROOT / room).rglob(f"*.{end}"))
    found = {str(path.relative_to(ROOT)) for path in files if re.search(rf"\b{field}\b", path.read_text("utf-8"))}
    return found.difference(NOT_OF_A_SOURCE)


def test_a_field_of_a_source_is_named_in_the_files_of_the_walk_and_in_no_other_on_the_way_of_a_request() -> None:
    assert len(walk()) == 6
    assert "bar" not in TIERS["feed"].settings, "it is a field of pages only: so it stands in their row, too"
    on_the_way = {name for name in walk() if name.startswith(ON_THE_WAY) and name.endswith((".py", ".html"))}
    assert naming("bar") - OF_TAGS - ORDERED == on_the_way
    assert all(f"`{name}`" in PAGE for name in OF_TAGS & naming("bar"))
    assert naming("bar") >= OF_TAGS


def test_the_page_has_the_cost_of_the_newest_field_over_all_folders() -> None:
    section = PAGE.partition("## Add a field")[2].partition("\n## ")[0]
    field, *costs = re.findall(
        r"`(\w+)`, the newest .* (\d+) files written by hand, (\d+) generated ones and (\d+) other pages", section
    )[0]
    found = {name for name, text in tracked() if not name.startswith("tests/") and re.search(rf"\b{field}\b", text)}
    found -= {"docs/architecture.md"}
    generated = {name for name in found if name.startswith(("clients/", "docs/schemas/"))}
    pages = {name for name in found - generated if name.endswith(".md")}
    by_hand = found - generated - pages
    assert [int(cost) for cost in costs] == [len(by_hand), len(generated), len(pages)]
    assert [name for name in by_hand if f"`{name}`" not in section and f"`{Path(name).name}`" not in section] == []


def test_a_field_of_an_alert_is_named_in_four_files() -> None:
    found = naming("notice_after") - {"storage/records/source.py"}
    files = {
        "storage/records/alert.py",
        "api/fields/alerts.py",
        "api/dashboard/notifying/alerts.py",
        "api/dashboard/templates/alerts/form.html",
    }
    assert found == files


def test_an_excluded_file_has_a_bar_of_its_own() -> None:
    assert [name for name in NOT_OF_A_SOURCE if "bar" not in (ROOT / name).read_text("utf-8")] == []


def nouns_in(path: Path) -> set[str]:
    """Return the API nouns whose modules a file imports."""
    nouns = {name.stem for name in (ROOT / "api/openapi/words").glob("*.md")} - {"introduction", "types", "service"}
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module.rpartition(".")[2], *(item.name for item in node.names)} & nouns
    return found


def test_a_noun_is_listed_in_the_files_of_the_walk_and_in_no_other() -> None:
    files = walk("Add a noun")
    assert len(files) == 9
    assert [name for name in files if not re.search(r"\bbins?\b", (ROOT / name).read_text("utf-8"), re.I)] == []
    listing = {
        path.relative_to(ROOT).as_posix()
        for room in ("storage", "actors", "api")
        for path in (ROOT / room).rglob("*.py")
        if len(nouns_in(path)) > 4
    }
    assert listing == SOME_NOUNS | {"api/openapi/document.py", "api/app.py"}  # routes; modules with screens
