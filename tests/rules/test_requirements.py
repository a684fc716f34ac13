"""Every import is a direct requirement, so that no other package's change can remove it."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions

from tests.rules.source_files import ROOMS, ROOT, modules
from tests.rules.test_rooms import imported

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def installed_with_it() -> set[str]:
    """Return the packages of every installation; extras are optional and not passed on."""
    return {_name(line) for line in PROJECT["dependencies"]}


def asked_for() -> set[str]:
    return installed_with_it() | {_name(line) for line in PROJECT["optional-dependencies"]["postgres"]}


def _name(requirement: str) -> str:
    return canonical(re.split(r"[<>=~!;\[ ]", requirement)[0])


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_import_of_a_third_party_is_a_requirement() -> None:
    known = {*sys.stdlib_module_names, *ROOMS, "sanderling_client"}  # the wheel carries the client
    third = {name for path in modules(*ROOMS) for name in imported(path)} - known
    providers = packages_distributions()
    missing = {name for name in third if not {canonical(d) for d in providers.get(name, [])} & asked_for()}
    assert missing == set()


def test_every_requirement_is_pinned_by_hash() -> None:
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        pins = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith(" ")]
        assert pins and all("==" in line and line.endswith("\\") for line in pins), path.name


def test_no_lock_file_holds_an_address() -> None:
    """The installer chooses the registry; npm also writes addresses of its authors' funding and licences."""
    locks = (path for room in ("tests", "bench", "clients") for path in (ROOT / room).rglob("package-lock.json"))
    files = [*(ROOT / "requirements").glob("*.txt"), *(path for path in locks if "node_modules" not in path.parts)]
    assert {file.parent.name for file in files} >= {"requirements", "npm", "peers_npm"}
    assert [file.name for file in files if "://" in file.read_text("utf-8")] == []
