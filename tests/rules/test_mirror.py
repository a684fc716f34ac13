"""Tests follow the code: `tests/` has the rooms of the product, folder by folder."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tests.rules.source_files import ROOT

ROOMS = ("actors", "api", "extras", "sanderling", "storage", "supervision")
ACROSS = {
    "bench": "what bench/ measures with",
    "clients": "the libraries beside the service",
    "data": "real feeds and pages",
    "docs": "what the docs say",
    "e2e": "the whole program, in processes",
    "release": "what makes and checks releases",
    "rules": "the house's rules",
    "simulation": "the simulated world, its oracles and the bugs planted in it",
    "support": "what tests of many rooms use",
}
"""Folders of `tests/` without a room."""
OF_MANY = {
    "api/browser": "the dashboard in Chromium",
    "api/clients": "programs of other languages read our streams",
    "api/contract": "requests drawn from the description",
    "api/generators": "clients that generators make from the description",
    "sanderling/console/golden": "screens as they were drawn",
    "storage/contract": "one suite for every storage engine",
}
"""Folders of a room's tests without a folder in the room."""


def folders_of(top: Path) -> set[str]:
    return {path.parent.relative_to(top).as_posix() for path in top.rglob("*.py") if "__pycache__" not in path.parts}


def misplaced(tests: list[str], modules: list[str]) -> list[str]:
    """Name each test of a module that is not in the folder of the only module of that name."""
    places = defaultdict(set)
    for module in modules:
        folder, _, name = module.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")
        places[name].add(module.removesuffix("/__init__.py") if module.endswith("/__init__.py") else folder)
    wrong = []
    for test in tests:
        folder, _, name = test.removesuffix(".py").rpartition("/")
        below = {place for place in places[name.removeprefix("test_")] if f"{place}/".startswith(f"{folder}/")}
        if len(below) == 1 and below != {folder}:
            wrong.append(f"tests/{test} -> tests/{below.pop()}")
    return wrong


def test_each_folder_of_tests_is_a_folder_of_the_product_or_says_why_not() -> None:
    top = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert top == {*ROOMS, *ACROSS}
    for room in ROOMS:
        ours = {f"{room}/{folder}".removesuffix("/.") for folder in folders_of(ROOT / room)} | {
            path.relative_to(ROOT).as_posix().removesuffix(".py") for path in (ROOT / room).rglob("*.py")
        }
        theirs = {f"{room}/{folder}".removesuffix("/.") for folder in folders_of(ROOT / "tests" / room)}
        assert theirs - ours <= OF_MANY.keys()
    assert all((ROOT / "tests" / folder).is_dir() for folder in OF_MANY)


def test_a_test_with_the_name_of_a_module_lies_in_its_folder() -> None:
    of_rooms = {room: [p for p in (ROOT / room).rglob("*.py") if "__pycache__" not in p.parts] for room in ROOMS}
    modules = [path.relative_to(ROOT).as_posix() for paths in of_rooms.values() for path in paths]
    tests = [
        path.relative_to(ROOT / "tests").as_posix()
        for room in ROOMS
        for path in (ROOT / "tests" / room).rglob("test_*.py")
    ]
    assert len(tests) > 200
    assert misplaced(tests, modules) == []


def test_a_misplaced_test_is_named() -> None:
    modules = ["actors/a/one.py", "actors/b/two.py", "actors/a/two.py", "actors/a/__init__.py"]
    assert misplaced(["actors/test_one.py"], modules) == ["tests/actors/test_one.py -> tests/actors/a"]
    assert misplaced(["actors/a/test_one.py", "actors/test_two.py", "actors/b/test_two.py"], modules) == []
    assert misplaced(["actors/test_a.py"], modules) == ["tests/actors/test_a.py -> tests/actors/a"]
