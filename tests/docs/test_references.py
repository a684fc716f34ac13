"""The documents' links, paths and names exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.rules.source_files import ROOMS, ROOT, name_of

PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
PLACES = (*ROOMS, "tests", "docs", "requirements", "bench", "bin")


def test_every_link_leads_somewhere(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            links = re.findall(r"\]\(([^):\s]+)\)", page.read_text("utf-8"))
            assert [link for link in links if not leads(page, *link.partition("#")[::2])] == []


def test_every_page_that_a_module_names_is_there() -> None:
    link = re.compile(r"\b(docs/[\w/-]+\.md)(?:#([\w-]+))?")
    named = {(name, *found) for name in MODULES for found in link.findall((ROOT / name).read_text("utf-8"))}
    assert sorted(found for found in named if not leads(ROOT / "README.md", *found[1:])) == []


def leads(page: Path, link: str, heading: str) -> bool:
    """Return whether a page's link leads to a file, and to a heading there if it names one."""
    target = page.parent / link if link else page
    return target.exists() and (not heading or heading in anchors(target))


@cache
def anchors(page: Path) -> frozenset[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    headings = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found) for found in re.findall(r"^#+ (.*)$", text, re.M))
    return frozenset(re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in headings)


def test_every_file_that_is_named_is_there(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            named = re.findall(rf"`((?:{'|'.join(PLACES)})/[\w./-]*)`", page.read_text("utf-8"))
            assert [name for name in named if not (ROOT / name).exists()] == []


MODULES = {
    path.relative_to(ROOT).as_posix()
    for room in (*ROOMS, "sanderling_client", "tests", "bench", "docs")
    for path in (ROOT / room).rglob("*.py")
}


def test_every_module_of_which_the_end_of_the_path_is_named_is_there(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            assert strangers(page.read_text("utf-8")) == []


def test_every_module_that_another_module_names_is_there() -> None:
    named = {name: strangers((ROOT / name).read_text("utf-8")) for name in sorted(MODULES)}
    assert {name: found for name, found in named.items() if found} == {}


def strangers(text: str) -> list[str]:
    """Return the module paths in a text that match no module of the project."""
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", text))
    return sorted(name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in MODULES))


def test_every_make_target_that_is_named_is_there() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    text = "".join(page.read_text("utf-8") for page in PAGES)
    named = set(re.findall(r"`make (\w+)", text)) | set(re.findall(r"^make (\w+)", text, re.M))
    assert named <= targets
    assert {"setup", "run", "test", "check", "simulate", "bench", "lock"} <= targets
