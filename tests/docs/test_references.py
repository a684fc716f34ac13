"""What the documents point at exists."""

from __future__ import annotations

import re

import pytest

from tests.rules.source_files import ROOMS, ROOT, name_of

PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
PLACES = (*ROOMS, "tests", "docs", "requirements", "bench", "bin")


def test_every_link_leads_somewhere(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            links = re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
            assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_file_that_is_named_is_there(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            named = re.findall(rf"`((?:{'|'.join(PLACES)})/[\w./-]*)`", page.read_text("utf-8"))
            assert [name for name in named if not (ROOT / name).exists()] == []


MODULES = {
    path.relative_to(ROOT).as_posix()
    for room in (*ROOMS, "tests", "bench", "docs")
    for path in (ROOT / room).rglob("*.py")
}
"""The project's modules, by their paths."""


def test_every_module_of_which_the_end_of_the_path_is_named_is_there(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            assert strangers(page.read_text("utf-8")) == []


def test_every_module_that_another_module_names_is_there() -> None:
    named = {name: strangers((ROOT / name).read_text("utf-8")) for name in sorted(MODULES)}
    assert {name: found for name, found in named.items() if found} == {}


def strangers(text: str) -> list[str]:
    """Return the paths of modules in a text that are not the end of any module's path."""
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", text))
    return sorted(name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in MODULES))


def test_every_make_target_that_is_named_is_there() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    text = "".join(page.read_text("utf-8") for page in PAGES)
    named = set(re.findall(r"`make (\w+)", text)) | set(re.findall(r"^make (\w+)", text, re.M))
    assert named <= targets
    assert {"setup", "run", "demo", "test", "check", "simulate", "bench", "lock"} <= targets
