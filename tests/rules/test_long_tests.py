"""The table of long tests names tests that exist, each once, with a reason."""

from __future__ import annotations

import re

from tests.long_tests import LONG
from tests.rules.source_files import ROOT


def exists(key: str) -> bool:
    path, _, name = key.partition("::")
    place = ROOT / path
    if not name:
        return place.exists()
    return bool(re.search(rf"^(async )?def {name.partition('[')[0]}\(", place.read_text("utf-8"), re.M))


def test_every_key_names_a_folder_a_file_or_a_test() -> None:
    assert [key for key in LONG if not exists(key)] == []


def test_no_key_lies_within_another() -> None:
    assert [
        (key, other) for key in LONG for other in LONG if key.startswith((f"{other}/", f"{other}::", f"{other}["))
    ] == []


def test_every_key_has_a_reason() -> None:
    assert [key for key, reason in LONG.items() if len(reason.split()) < 5] == []
