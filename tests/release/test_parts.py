"""Every shipped part has a licence text and an SPDX expression."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from lxml import etree
from packaging.licenses import canonicalize_license_expression

from release.licences import native, parts
from release.licences.freezing import packages_of, texts, unlicensed
from release.licences.parts import expression_of, package
from release.licences.table import FORMS, NATIVE, OF_BUILDS, ONLY_ITS_OWN, PACKAGES
from tests.rules.source_files import ROOT
from tests.rules.test_requirements import canonical, installed_with_it

PINS = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (ROOT / "requirements/run.txt").read_text("utf-8"), re.M))
ALL = parts.parts()


def installed(folder: Path, *headers: str) -> metadata.Distribution:
    """Return a fake installed package: `thing` 1.0 with these lines in its metadata."""
    info = folder / "thing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", "Name: thing", "Version: 1.0", *headers]) + "\n")
    return metadata.Distribution.at(info)


def test_the_table_names_every_pinned_or_required_package() -> None:
    assert set(PACKAGES) == {canonical(name) for name in PINS}
    assert installed_with_it() <= set(PACKAGES)


def test_the_binary_builds_the_c_driver_against_the_systems_library() -> None:
    pins = (ROOT / "requirements/build.txt").read_text("utf-8")
    (pin,) = re.findall(r"^psycopg-c==(\S+) .*\n    --hash=sha256:\w{64}$", pins, re.M)
    assert pin == PINS["psycopg"] and "psycopg-binary" not in pins
    assert set(OF_BUILDS) == {"psycopg-c"} and "psycopg_c" in (ROOT / "release/sanderling.spec").read_text("utf-8")
    assert {"gcc", "libpq-dev", "python3-dev"} <= set((ROOT / "release/recipe.yaml").read_text("utf-8").split())


def test_no_part_lacks_its_text_or_its_expression() -> None:
    assert [f"{part.label} lacks {part.lacks}" for part in ALL if part.lacks] == []


def test_every_expression_is_one_of_spdx() -> None:
    expressions = {part.expression for part in ALL}
    assert {each for each in expressions if canonicalize_license_expression(each) != each} == set()


def test_every_required_package_is_installed_for_inspection() -> None:
    assert installed_with_it() - {part.name for part in ALL} == set()


@pytest.mark.parametrize(
    ("headers", "expression"),
    [
        (["License-Expression: MIT-0", "Classifier: License :: OSI Approved :: MIT License"], "MIT-0"),
        (["Classifier: License :: OSI Approved :: MIT License"], "MIT"),
        (["Classifier: License :: OSI Approved :: BSD License"], ""),
        (["License: do as you like"], ""),
        (
            [
                "Classifier: License :: OSI Approved :: MIT License",
                "Classifier: License :: OSI Approved :: Apache Software License",
            ],
            "",
        ),
    ],
)
def test_the_metadata_come_before_the_table(tmp_path: Path, headers: list[str], expression: str) -> None:
    found = installed(tmp_path, *headers)
    assert expression_of("thing", found) == expression
    assert expression_of("tzdata", found) == (expression or "Apache-2.0")


def test_a_package_without_a_text_or_an_expression_is_reported(tmp_path: Path) -> None:
    found = installed(tmp_path, "License-Expression: MIT")
    assert package("thing", found).lacks == "a text"
    (tmp_path / "thing-1.0.dist-info/LICENCE").write_text("Do as you like.")
    assert package("thing", found).lacks == ""
    (tmp_path / "thing-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.4\nName: thing\nVersion: 1.0\n")
    again = metadata.Distribution.at(tmp_path / "thing-1.0.dist-info")
    assert package("thing", again).lacks == "an SPDX expression"


def test_texts_are_found_by_the_metadatas_word_and_by_their_names(tmp_path: Path) -> None:
    found = installed(tmp_path, "License-File: AUTHORS", "License-File: inner/TERMS")
    folder = tmp_path / "thing-1.0.dist-info"
    (folder / "licenses/inner").mkdir(parents=True)
    for name in ("licenses/AUTHORS", "licenses/inner/TERMS", "COPYING", "RECORD"):
        (folder / name).write_text("words")
    places = [text.place.removeprefix("thing-1.0.dist-info/") for text in package("thing", found).texts]
    assert places == ["COPYING", "licenses/AUTHORS", "licenses/inner/TERMS"]


def test_every_compiled_package_is_inspected_for_bundled_code() -> None:
    """A row of NATIVE lists its bundled libraries; ONLY_ITS_OWN marks a package without any."""
    here = {part.name for part in ALL if part.is_package}
    compiled = {name for name in here if any(file.suffix in {".so", ".pyd"} for file in metadata.files(name) or [])}
    assert compiled == {row.inside for row in NATIVE if row.inside in PACKAGES} | set(ONLY_ITS_OWN)


def test_a_frozen_library_without_a_row_is_reported() -> None:
    assert unlicensed(["libz.so.1", "libcrypto.so.3", "lxml/etree.so", "python3.11/lib-dynload/_ssl.so"]) == []
    assert unlicensed(["libz.so.1", "libstrange.so.2"]) == ["libstrange.so.2"]


def test_a_part_without_a_text_stops_the_freezing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parts, "TEXTS", tmp_path)
    assert "sqlite lacks a text" in unlicensed([])


def test_the_recipe_of_the_frozen_program_includes_licences_and_lists_missing_ones() -> None:
    recipe = (ROOT / "release/sanderling.spec").read_text("utf-8")
    assert "in texts(frozen_in, " in recipe and "unlicensed(place for place, _, kind in seen.binaries" in recipe


def test_the_frozen_program_has_metadata_and_licences_of_its_packages(tmp_path: Path) -> None:
    packages = packages_of(["yaml.reader", "lxml/etree.cpython-311.so", "lxml.html", "json.decoder", "sanderling.cli"])
    assert packages & set(PACKAGES) == {"pyyaml", "lxml"}
    found = {place: Path(file) for file, place in texts(packages, tmp_path)}
    places = {place for place in found if not place.startswith(("pyinstaller-", "staticx-"))}
    assert {place.split("-")[0] for place in places} == {"pyyaml", "lxml"}
    assert {place.rpartition("/")[2] for place in places} == {"METADATA", "LICENSE", "LICENSE.txt", "LICENSES.txt"}
    for place, file in found.items():
        if place.endswith("/METADATA"):
            kept = metadata.Distribution.at(file.parent)
            whole = metadata.distribution(kept.metadata["Name"])
            whole_fields, kept_fields = whole.metadata.json, kept.metadata.json
            left_out = {name for name, value in whole_fields.items() if kept_fields.get(name) != value}
            assert left_out == {"description"} and kept_fields.keys() <= whole_fields.keys()


def test_each_stored_licence_text_is_used() -> None:
    used = {text.file.name for part in ALL for text in part.texts if text.file.parent == parts.TEXTS}
    assert used == {path.name for path in parts.TEXTS.iterdir()}


def test_versions_that_only_the_table_knows_are_of_the_packages_that_are_pinned() -> None:
    known = {row.inside: row.version_with[0] for row in NATIVE if row.version_with}
    assert known == {name: PINS[name] for name in known}


def test_native_parts_report_the_versions_that_they_really_have() -> None:
    versions = {part.label: part.version for part in ALL if not part.is_package}
    assert versions["libxml2 (in lxml)"] == ".".join(map(str, etree.LIBXML_VERSION))
    asked = ["python", "openssl", "sqlite", "zlib", "expat", "libxslt (in lxml)", "libyaml (in pyyaml)"]
    assert [name for name in asked if not re.fullmatch(r"\d+\.\d+(\.\d+)*[a-z]?", versions[name])] == []
    assert versions["unicode-cldr (in sanderling)"] == "47"


def test_a_library_without_version_is_listed_without_one() -> None:
    assert native.version_of("libuuid", "") == native.version_of("nothing", "") == ""


def test_a_checkout_has_no_loader_and_no_c_library_of_its_own() -> None:
    bare = {part.name for part in parts.parts(())}
    assert {part.name for part in parts.parts(FORMS)} - bare == {"pyinstaller", "staticx", "glibc", "libgcc"}
