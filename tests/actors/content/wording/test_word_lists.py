from __future__ import annotations

from pathlib import Path

from actors.content.wording import words
from actors.content.wording.words import word_lists
from tests.rules.source_files import modules

FOLDER = Path(words.__file__).with_name("lists")


def test_each_list_is_read_by_a_module() -> None:
    code = "".join(path.read_text("utf-8") for path in modules("actors"))
    assert [path.stem for path in FOLDER.iterdir() if f'word_lists("{path.stem}")' not in code] == []


def test_a_list_keeps_the_case_of_its_words_and_joins_the_lines_of_one() -> None:
    assert word_lists("currencies")["signs"]["Kr"] == "SEK"
    assert "page not found|not found" in word_lists("stand_ins")["en"]["error"]
    assert not any("\n" in text for part in word_lists("cldr").values() for text in part.values())
