"""Messenger files: the built-in ones, and the errors for a bad one."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.catalogue import BadFile
from actors.destination_kinds.messengers.messenger import built_in, read_messenger, with_folder
from actors.destination_kinds.table import NO_MAIL, built_in_kinds, kinds_of
from tests.rules.source_files import ROOT

PAGE = (ROOT / "docs/messengers.md").read_text("utf-8")
EXAMPLE = PAGE.partition("```toml\n")[2].partition("```")[0]


def flaws(text: str) -> str:
    with pytest.raises(BadFile) as caught:
        read_messenger(text, "own.toml")
    return "\n".join(map(str, caught.value.flaws))


def test_the_page_has_a_row_for_each_kind_with_its_fields() -> None:
    for messenger in built_in():
        (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{messenger.id}` |"))
        assert messenger.label in row
        assert all(f"`{field.name}`" in row for field in messenger.fields), row
        assert ("| optional |" in row) == bool(messenger.address.default), row


def test_every_kind_explains_its_fields_in_two_sentences() -> None:
    for kind in built_in_kinds().values():
        assert 1 <= kind.where.count(". ") + 1 <= 2 and kind.where.endswith("."), kind.id
        assert kind.documentation.startswith("https://")


def test_every_kind_names_the_source_of_its_answers() -> None:
    assert [messenger.id for messenger in built_in() if not messenger.read] == []


def test_the_example_of_the_page_is_a_kind() -> None:
    found = read_messenger(EXAMPLE, "messengers.md")
    assert (found.id, [field.name for field in found.fields]) == ("tide-table", ["token", "level"])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('id = "tide-table"', 'id = "Tide table"', "own.toml:1: id: small letters"),
        ('id = "tide-table"', 'id = "webhook"', "webhook is another kind"),
        ('family = "chat"', 'family = "bird"', "write chat, phone or on-call"),
        ('written = "2026-11-23"', 'written = "yesterday"', "not a day"),
        ('name = "level"', 'name = "title"', "title is another value"),
        ('default = "2"', 'default = "9"', "does not fit the pattern"),
        ('pattern = "[1-5]"', 'pattern = "["', "not a regular expression"),
        ('name = "token"', 'default = "x"\nname = "token"', "anybody could read it"),
        ("text = 2000", "text = 10", "limits.text: from 80"),
        ('path = "/boards', 'path = "boards', "begins with a slash"),
        ("{token}", "{tokne}", "{tokne} is no field"),
        ('"{level:int}"', '"level {level:int}"', "must stand alone"),
        ("Authorization =", "Host =", "not to be set"),
        ('values = ["token_revoked"]', "", ""),
        ('path = "error.code"', "status = [400]", "add the path"),
        ("status = [429]", "", "fits every answer"),
        ('note = "{text}"', "", ""),
        ('subject = "{title}"\nnote = "{text}"', "", "says nothing"),
        ('encoding = "json"', 'sign = "lark"', "a field called secret"),
        ('encoding = "json"', 'basic = ["token", "nobody"]', "nobody is no field"),
        ('verdict = "slow"', 'verdict = "fine"', "delivered, again, slow, refused or revoked"),
        ("[limits]", "[limit]", "limit: there is no such field"),
        ("[limits]", "[limits", "not TOML"),
    ],
)
def test_an_error_is_reported_with_its_place(old: str, new: str, says: str) -> None:
    assert EXAMPLE.count(old) >= 1
    text = EXAMPLE.replace(old, new, 1)
    if says:
        assert says in flaws(text)
    else:
        assert read_messenger(text, "own.toml").id == "tide-table"


def test_a_folder_adds_kinds_and_hides_none(tmp_path: Path) -> None:
    (tmp_path / "tide.toml").write_text(EXAMPLE)
    (tmp_path / "bad.toml").write_text("id = 1")
    (tmp_path / "twice.toml").write_text(EXAMPLE.replace("tide-table", "slack"))
    found = with_folder(tmp_path)
    kinds = kinds_of(found, NO_MAIL)
    assert kinds.keys() == built_in_kinds().keys() | {"tide-table"}
    assert [flaw.file for flaw in found.flaws] == ["bad.toml", "twice.toml"]
    assert "slack is a built-in kind" in str(found.flaws[1])
