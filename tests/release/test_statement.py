"""release/: the statement of origin, the notes, and the files that it takes from dist/."""

from __future__ import annotations

import json
import re

import pytest

from release.artifacts import KINDS, Built, lacking, released
from release.notes import is_dated, notes
from release.statement import Origin, statement
from release.verifying import NAME
from sanderling import __version__
from tests.rules.source_files import ROOT

ORIGIN = Origin("c" * 40, changed=False, version="0.1.0")
BUILT = Built("0.1.0", "linux-x86_64")
SUM = "a" * 64


def made(**files: str) -> str:
    return statement(ORIGIN, "linux-x86_64", "3.11.2", {"requirements/run.txt": SUM, "pyproject.toml": SUM}, files)


def test_the_statement_has_files_commit_and_packages() -> None:
    told = json.loads(made(two="2" * 64, one="1" * 64))
    assert told["_type"] == "https://in-toto.io/Statement/v1"
    assert told["predicateType"] == "https://slsa.dev/provenance/v1"
    assert told["subject"] == [
        {"name": "one", "digest": {"sha256": "1" * 64}},
        {"name": "two", "digest": {"sha256": "2" * 64}},
    ]
    build = told["predicate"]["buildDefinition"]
    assert build["resolvedDependencies"] == [
        {"name": "source", "digest": {"gitCommit": "c" * 40}},
        {"name": "pyproject.toml", "digest": {"sha256": SUM}},
        {"name": "requirements/run.txt", "digest": {"sha256": SUM}},
    ]
    assert build["externalParameters"] == {"version": "0.1.0", "platform": "linux-x86_64"}
    assert build["internalParameters"] == {"changed": False, "python": "3.11.2"}
    assert told["predicate"]["runDetails"]["builder"]["id"] == "urn:sanderling:make-release"


def test_the_statement_is_the_same_for_any_order_of_files() -> None:
    assert made(two="2" * 64, one="1" * 64) == made(one="1" * 64, two="2" * 64)


def test_there_is_no_statement_about_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        made()


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("sanderling", "sanderling-0.1.0-linux-x86_64"),
        ("sanderling-universal", "sanderling-0.1.0-linux-x86_64-universal"),
        ("sanderling.cdx.json", "sanderling-0.1.0-linux-x86_64.cdx.json"),
        *((name, name) for name in ("sanderling_0.1.0-1_amd64.deb", "sanderling-0.1.0-1.x86_64.rpm")),
        *((name, name) for name in ("sanderling-0.1.0-py3-none-any.whl", "sanderling-0.1.0.tar.gz")),
        *((name, name) for name in ("sanderling_client-0.1.0-py3-none-any.whl", "sanderling_client-0.1.0.tar.gz")),
        *((name, None) for name in ("image", "nodes", "directory", "SHA256SUMS", "release", "sanderling-0.2.0.tar.gz")),
        ("sanderling-0x1x0.tar.gz", None),
    ],
)
def test_a_file_is_released_under_a_name_that_is_its_own_among_all_machines(name: str, to: str | None) -> None:
    assert released(name, BUILT) == to
    assert to is None or NAME.fullmatch(to)


def test_parts_that_a_machine_could_not_build_are_named() -> None:
    assert lacking(["sanderling-0.1.0.tar.gz", "sanderling-0.1.0-py3-none-any.whl"], "0.1.0") == [
        kind for kind in KINDS if kind not in ("the sdist", "the wheel")
    ]


CHANGELOG = "# Changelog\n\n## 0.2.0, unreleased\n\n- New.\n\n## 0.1.0, 2026-12-01\n\n- Old.\n- Older.\n"


def test_the_notes_are_the_section_of_the_version_and_no_other() -> None:
    assert notes(CHANGELOG, "0.1.0") == "# Sanderling 0.1.0\n\n- Old.\n- Older.\n"
    assert notes(CHANGELOG, "0.2.0") == "# Sanderling 0.2.0\n\n- New.\n"
    assert (is_dated(CHANGELOG, "0.1.0"), is_dated(CHANGELOG, "0.2.0")) == (True, False)


@pytest.mark.parametrize("version", ["0.1", "0x1.0", "0.3.0", "0.1.00"])
def test_a_version_without_a_section_has_no_notes(version: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"0 sections of {version}")):
        notes(CHANGELOG, version)


def test_an_empty_section_is_no_notes() -> None:
    with pytest.raises(ValueError, match="one with words in it"):
        notes("## 1.0.0\n\n## 0.1.0\n\n- Old.\n", "1.0.0")


def test_this_version_has_notes() -> None:
    assert notes((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__).startswith(f"# Sanderling {__version__}\n\n")
