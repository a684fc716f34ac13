"""No folder of the product has rooms that import each other in a ring: imports for types and late ones count."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter

from tests.rules.source_files import ROOMS, modules, name_of, nodes_of

PATHS = {name_of(path).replace("/", ".").removesuffix(".py"): path for path in modules(*ROOMS)}


@cache
def imports_of(name: str) -> list[str]:
    found = list[str]()
    for node in nodes_of(PATHS[name]):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += (f"{node.module}.{item.name}" for item in node.names)
        elif isinstance(node, ast.Import):
            found += (item.name for item in node.names)
    return found


def rooms_of(folder: str) -> dict[str, set[str]]:
    """Return the rooms of a folder, modules or folders, that each of them imports."""
    start, found = f"{folder}.", dict[str, set[str]]()
    for name in PATHS:
        if name.startswith(start):
            room = name.removeprefix(start).split(".")[0]
            asked = {each.removeprefix(start).split(".")[0] for each in imports_of(name) if each.startswith(start)}
            found.setdefault(room, set()).update(asked - {room})
    return found


def ring_in(rooms: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(rooms).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


FOLDERS = sorted({name.rpartition(".")[0] for name in PATHS if "." in name})


def test_no_rooms_of_a_folder_import_each_other_in_a_ring() -> None:
    assert {folder: ring for folder in FOLDERS if (ring := ring_in(rooms_of(folder)))} == {}


def test_a_ring_is_seen() -> None:
    assert len(FOLDERS) > 60
    assert ring_in({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert not ring_in({"a": {"b"}, "b": {"c"}, "d": {"a"}})
