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


def test_the_python_package_says_what_it_is_and_has_types_and_a_licence() -> None:
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text("utf-8"))["project"]
    program = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (project["version"], project["license"]) == (program["version"], program["license"])
    assert (PYTHON / project["readme"]).read_text("utf-8").startswith("# ")
    assert (PYTHON / "src/sanderling_client/py.typed").exists()
    assert (PYTHON / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_python_package_imports_what_it_asks_for_and_nothing_of_the_service() -> None:
    third = {
        name
        for path in modules("clients/python/src")
        for name in imported(path)
        if name not in {*sys.stdlib_module_names, "sanderling_client"}
    }
    assert third == {"anyio", "httpx", "msgspec", "nacl"} and not third & set(ROOMS)


def test_streams_that_are_written_by_hand_are_short_and_so_are_functions() -> None:
    streams = (PYTHON / "src/sanderling_client/stream.py", ROOT / "clients/typescript/src/stream.ts")
    assert [path for path in streams if len(path.read_text("utf-8").splitlines()) > STREAM_LIMIT] == []
    assert {name: size for name, size in function_sizes("clients").items() if size > FUNCTION_LIMIT} == {}
