from __future__ import annotations

from pathlib import Path

import pytest

from actors.catalogue import BUILT_IN, LARGEST
from actors.templates.template import built_in, with_folder
from tests.actors.templates.samples import HEAD, a_text

OURS = ["clinical-trials-watch", "gtm-competitor-watch", "swedish-public-sector"]


def test_the_templates_of_the_contract_are_built_in() -> None:
    found = [template for template in built_in() if template.id in OURS]
    assert [template.id for template in found] == OURS
    assert {entry.origin for entry in built_in().entries()} == {BUILT_IN}
    takes = {t.id: [(p.key, p.type, p.min, p.max) for p in t.parameters] for t in found}
    assert takes == dict(zip(OURS, ([("condition", "string", 1, 5)], [("domain", "domain", 1, 10)], []), strict=True))
    suggests = {t.id: [(s.name, s.language, s.query) for s in t.alerts] for t in found}
    leaders = '"chief executive" OR CEO OR CTO OR "vice president" OR appointed'
    assert suggests == {
        "gtm-competitor-watch": [
            ("Pricing and packaging changes", "en", "pricing OR price OR plan OR tier OR enterprise"),
            ("Leadership changes", "en", leaders),
        ],
        "swedish-public-sector": [
            ("Upphandling och remisser", "sv", "upphandling OR remiss OR proposition"),
            ("Tillsyn och sanktioner", "sv", "sanktion OR tillsyn OR föreläggande"),
        ],
        "clinical-trials-watch": [("Recruiting phase 3 trials", "en", '"phase 3" OR recruiting')],
    }


def test_a_folder_adds_its_templates_and_a_bad_file_hides_no_good_one(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("id = ", "utf-8")
    (tmp_path / "b.toml").write_text(a_text(), "utf-8")
    (tmp_path / "c.toml").write_bytes(b'# fine\nid = "\xe5"')
    (tmp_path / "d.toml").write_text("#" * (LARGEST + 1), "utf-8")
    (tmp_path / "e.toml").mkdir()
    (tmp_path / "notes.txt").write_text("no template", "utf-8")
    (tmp_path / ".hidden.toml").write_text("no template", "utf-8")
    found = with_folder(tmp_path)
    assert [template.id for template in found] == [*(one.id for one in built_in()), "own"]
    assert found.entries()[-1].origin == "b.toml"
    assert [str(flaw) for flaw in found.flaws] == [
        "a.toml:1: not TOML: Invalid value at its end",
        "c.toml:2: not UTF-8: save the file as UTF-8",
        "d.toml: larger than 256 KiB: a template is a page of text",
        "e.toml: can't be read: Is a directory",
    ]


def test_an_id_can_not_be_taken_twice(tmp_path: Path) -> None:
    """Neither a built-in template's nor that of an earlier file."""
    (tmp_path / "a.toml").write_text(a_text(), "utf-8")
    (tmp_path / "b.toml").write_text("\n" + a_text(), "utf-8")
    (tmp_path / "c.toml").write_text(a_text(head=HEAD.replace("own", OURS[1])), "utf-8")
    found = with_folder(tmp_path)
    assert found.get("own") is not None and found.entries()[-1].origin == "a.toml"
    kept = found.get(OURS[1])
    assert kept is not None and kept.category == "go-to-market"
    assert [str(flaw) for flaw in found.flaws] == [
        "b.toml:2: id: own is the template of a.toml: choose another id",
        f"c.toml:1: id: {OURS[1]} is a built-in template: choose another id",
    ]


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        with_folder(tmp_path / "absent")


def test_its_state_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("id = ", "utf-8")
    assert repr(with_folder(tmp_path)) == "<Catalogue 18 records, 1 flaws>"
