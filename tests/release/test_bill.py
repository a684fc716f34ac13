"""The bill of materials: valid CycloneDX, each part once, with licence, sums and version."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import cyclonedx.schema
import pytest
from jsonschema import Draft7Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from release.archives import is_of, taken
from release.bill import shipped, software_bill
from release.licences.parts import parts

EPOCH = 1_767_225_600
SUM = "ab" * 32
SCHEMAS = Path(cyclonedx.schema.__file__).parent / "_res"
FILES = ("libz.so.1", "libssl.so.3", "libcrypto.so.3")


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The bill of this installation, with the archive of lxml and a directory form of three libraries."""
    folder = tmp_path_factory.mktemp("directory")
    (folder / "_internal").mkdir()
    for name in FILES:
        (folder / "_internal" / name).write_bytes(name.encode())
    archives = {"lxml": ("lxml-1-py3-none-any.whl", SUM)}
    found: dict[str, Any] = json.loads(software_bill(parts(), EPOCH, archives, folder))
    return found


def component(bill: dict[str, Any], reference: str) -> dict[str, Any]:
    (found,) = (each for each in bill["components"] if each["bom-ref"] == reference)
    return dict(found)


def properties(found: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in found["properties"]}


def test_it_is_valid_by_cyclonedxs_own_schema(bill: dict[str, Any]) -> None:
    others: list[tuple[str, Resource[Any]]] = []
    for name in ("spdx", "jsf-0.82"):
        read = json.loads((SCHEMAS / f"{name}.SNAPSHOT.schema.json").read_text("utf-8"))
        others.append((f"{name}.SNAPSHOT.schema.json", DRAFT7.create_resource(read)))
    whole = json.loads((SCHEMAS / "bom-1.6.SNAPSHOT.schema.json").read_text("utf-8"))
    registry = Registry().with_resources([*others, *((f"http://cyclonedx.org/schema/{name}", r) for name, r in others)])
    validator = Draft7Validator(whole, registry=registry)
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(bill)] == []
    bill_without = bill | {"components": [{"name": "x"}]}
    assert list(validator.iter_errors(bill_without)), "a schema that finds nothing is none"


def test_each_part_is_there_once_with_licence_and_text(bill: dict[str, Any]) -> None:
    assert Counter(each["bom-ref"] for each in bill["components"]).most_common(1)[0][1] == 1
    assert len(bill["components"]) == len(parts()) - 1
    assert [each["name"] for each in bill["components"] if not each["licenses"]] == []
    assert [each["name"] for each in bill["components"] if "sanderling:licence-text" not in properties(each)] == []


def test_a_package_has_the_sum_of_the_archive_that_was_taken(bill: dict[str, Any]) -> None:
    lxml = component(bill, "pypi/lxml")
    assert lxml["hashes"] == [{"alg": "SHA-256", "content": SUM}]
    assert properties(lxml)["sanderling:archive"] == "lxml-1-py3-none-any.whl"


def test_a_native_part_has_the_sum_of_its_library_as_it_is_shipped(bill: dict[str, Any]) -> None:
    digest = hashlib.sha256(b"libz.so.1").hexdigest()
    assert component(bill, "native/zlib")["hashes"] == [{"alg": "SHA-256", "content": digest}]
    openssl = component(bill, "native/openssl")
    assert "hashes" not in openssl and {"sanderling:file:libssl.so.3", "sanderling:file:libcrypto.so.3"} <= set(
        properties(openssl)
    )


def test_bundled_code_is_listed_with_its_own_version(bill: dict[str, Any]) -> None:
    assert component(bill, "lxml/zlib")["version"] != ""
    (inside,) = (each["dependsOn"] for each in bill["dependencies"] if each["ref"] == "pypi/lxml")
    assert inside == ["lxml/libexslt", "lxml/libiconv", "lxml/libxml2", "lxml/libxslt", "lxml/zlib"]


def test_every_reference_is_to_a_part(bill: dict[str, Any]) -> None:
    known = {each["bom-ref"] for each in bill["components"]}
    reached = {name for each in bill["dependencies"] for name in each["dependsOn"]}
    assert reached == known


def test_the_bill_of_materials_lists_exactly_the_frozen_packages(tmp_path: Path) -> None:
    (lxml,) = (part for part in parts() if part.name == "lxml")
    (tmp_path / "_internal" / lxml.texts[0].place.split("/")[0]).mkdir(parents=True)
    found = [part.label for part in shipped(parts(), tmp_path)]
    assert (
        "lxml" in found
        and "libxml2 (in lxml)" in found
        and "sqlite" in found
        and "unicode-cldr (in sanderling)" in found
    )
    assert "pip" not in found and "libsodium (in pynacl)" not in found


def report(url: str, digest: str) -> dict[str, Any]:
    info = {"url": url, "archive_info": {"hashes": {"sha256": digest}}}
    return {"install": [{"metadata": {"name": "Trio"}, "download_info": info}]}


def test_the_archive_that_pip_takes_is_one_that_is_pinned() -> None:
    url = "https://index.test/files/trio-0.35.0-py3-none-any.whl"
    assert taken(report(url, SUM), f"--hash=sha256:{SUM}") == {"trio": ("trio-0.35.0-py3-none-any.whl", SUM)}
    with pytest.raises(ValueError, match="is not pinned"):
        taken(report(url, SUM), "--hash=sha256:00")
    with pytest.raises(ValueError, match="was not installed from"):
        taken(report(url.replace("py3-none-any", "cp311-cp311-win32"), SUM), f"--hash=sha256:{SUM}")


def test_an_archive_of_source_may_have_become_any_wheel() -> None:
    assert is_of("trio-0.35.0.tar.gz", "Tag: cp311-cp311-linux_x86_64\n")
    assert not is_of("lxml-6-cp311-cp311-manylinux_2_28_x86_64.whl", "Tag: cp312-cp312-manylinux_2_28_x86_64\n")
