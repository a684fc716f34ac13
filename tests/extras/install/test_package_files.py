"""The packages' extra files: reproducible, and true."""

from __future__ import annotations

import gzip
import json
import runpy
from pathlib import Path

import pytest

from tests.rules.source_files import ROOT
from tests.rules.test_requirements import asked_for

EPOCH = 1_767_225_600


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, written twice; both times the same bytes."""
    first, second = (tmp_path_factory.mktemp(name) for name in ("first", "second"))
    for folder in (first, second):
        runpy.run_path(str(ROOT / "release/files.py"))["main"](folder, EPOCH)
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {
        path.name: path.read_bytes() for path in second.iterdir()
    }
    return first


def test_the_bill_of_software_lists_each_requirement_and_each_part_once(written: Path) -> None:
    bill = json.loads((written / "sanderling.cdx.json").read_text())
    names = [part["name"] for part in bill["components"]]
    pinned = (ROOT / "requirements/run.txt").read_text("utf-8")
    assert {name for name in asked_for() if f"\n{name}==" in pinned} <= set(names)
    assert {"python", "sqlite", "openssl"} <= set(names)
    references = [part["bom-ref"] for part in bill["components"]]
    assert len(references) == len(set(references))
    assert bill["metadata"]["timestamp"] == "2026-01-01T00:00:00Z"


def test_the_packaged_unit_starts_the_packaged_program_on_the_same_data(written: Path) -> None:
    unit = (written / "sanderling.service").read_text()
    assert "ExecStart=/usr/lib/sanderling/sanderling serve\n" in unit
    assert "Documentation=man:sanderling(1)\n" in unit
    assert "Environment=SANDERLING_DATA=/var/lib/sanderling\n" in unit


def test_the_licence_is_whole_in_debians_form(written: Path) -> None:
    copyright_file = (written / "copyright").read_text()
    licence = copyright_file.split("License: MIT\n")[1]
    assert all(line.startswith(" ") for line in licence.splitlines())
    assert licence.replace("\n .\n", "\n\n").replace("\n ", "\n").strip() == (ROOT / "LICENSE").read_text().strip()


def test_the_package_has_all_texts_of_licences_and_names_them(written: Path) -> None:
    texts = gzip.decompress((written / "licences.gz").read_bytes()).decode()
    said = (written / "copyright").read_text()
    for name, licence, words in (
        ("trio", "MIT OR Apache-2.0", "\ntrio "),
        ("libxml2 (in lxml)", "MIT", "Daniel Veillard"),
        ("glibc", "LGPL-2.1-or-later", "GNU LESSER GENERAL PUBLIC LICENSE"),
    ):
        assert f"\n  {name}: {licence}\n" in said and words in texts


def test_the_zipped_pages_carry_no_time(written: Path) -> None:
    for name in ("sanderling.1.gz", "changelog.gz", "licences.gz"):
        data = (written / name).read_bytes()
        assert data[4:8] == bytes(4) and gzip.decompress(data)


def test_no_file_has_a_path_of_the_build_machine(written: Path) -> None:
    for path in written.iterdir():
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert str(ROOT).encode() not in data and str(Path.home()).encode() + b"/" not in data, path.name


def test_every_file_that_the_recipe_names_is_made_or_there(written: Path) -> None:
    recipe = (ROOT / "release/nfpm.yaml").read_text()
    named = {line.split("${FILES}/")[1] for line in recipe.splitlines() if "${FILES}/" in line}
    assert {path.name for path in written.iterdir()} == named
    scripts = [line.split(": ")[1] for line in recipe.splitlines() if ": release/" in line]
    assert len(scripts) == 4 and all((ROOT / script).is_file() for script in scripts)
