"""The libraries, packaged as they would be published, and their own limits."""

from __future__ import annotations

import sys
import tomllib

from tests.rules.sizes import FUNCTION_LIMIT, function_sizes
from tests.rules.source_files import ROOMS, ROOT, modules
from tests.rules.test_rooms import imported

PYTHON = ROOT / "clients/python"
STREAM_LIMIT = 200
"""Lines of a handwritten stream module."""


def test_the_python_package_has_a_description_types_and_a_licence() -> None:
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text("utf-8"))["project"]
    program = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (project["version"], project["license"]) == (program["version"], program["license"])
    assert (PYTHON / project["readme"]).read_text("utf-8").startswith("# ")
    assert (PYTHON / "src/sanderling_client/py.typed").exists()
    assert (PYTHON / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def third_parties(folder: str, *, without: str = "-") -> set[str]:
    return {
        name
        for path in modules(folder)
        for name in imported(path)
        if without not in path.parts and name not in {*sys.stdlib_module_names, "sanderling_client"}
    }


def test_the_python_package_imports_only_its_dependencies_and_nothing_of_the_service() -> None:
    third = third_parties("clients/python/src", without="receiver")
    assert third == {"anyio", "httpx", "msgspec", "nacl"} and not third & set(ROOMS)


def test_the_receiver_kit_imports_what_the_extra_cli_brings_and_nothing_else_imports_the_kit() -> None:
    extras = tomllib.loads((PYTHON / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    brought = {line.partition(">")[0].replace("-", "_").replace("pynacl", "nacl") for line in extras["cli"]}
    found = third_parties("clients/python/src/sanderling_client/receiver") | {"nacl"}
    assert found - {"httpx", "msgspec"} == brought
    outside = [path for path in modules("clients/python/src") if "receiver" not in path.parts]
    assert [path for path in outside if "sanderling_client.receiver" in path.read_text("utf-8")] == []


def test_streams_that_are_written_by_hand_are_short_and_so_are_functions() -> None:
    streams = (PYTHON / "src/sanderling_client/stream.py", ROOT / "clients/typescript/src/stream.ts")
    assert [path for path in streams if len(path.read_text("utf-8").splitlines()) > STREAM_LIMIT] == []
    assert {name: size for name, size in function_sizes("clients").items() if size > FUNCTION_LIMIT} == {}
