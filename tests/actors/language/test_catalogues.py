"""The catalogues are complete and current, keep placeholders and tags, and parse as other programs parse them."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from actors.language.catalogues import CONTEXT, Entry, catalogue_of, entries_of
from tests.actors.language.gathering import HOME, gathered, lacking, updated

FILES = sorted(HOME.glob("*.po"))
PLACES = re.compile(r"%\(\w+\)s|%%")
TAGS = re.compile(r"</?(?:a|b|code|em|small|span|strong)\b[^<>]*>|<(?:script|style|img|svg|iframe)\b")
FULL = (
    "Run `make languages`, give each text without words its own in {}, and look at docs/languages.md for which words."
)


def named(file: Path) -> str:
    return file.name


@pytest.fixture(params=FILES, ids=named)
def file(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_swedish_is_there() -> None:
    assert "sv.po" in map(named, FILES)


def test_a_catalogue_has_words_for_every_text_and_guesses_none(file: Path) -> None:
    text = file.read_text("utf-8")
    known = {entry.text for entry in entries_of(text)}
    new = sorted(gathered().keys() - known)
    assert not new, f"{file.name} lacks {new}. {FULL.format(file.name)}"
    assert not lacking(text), f"{file.name} has no words for {lacking(text)}. {FULL.format(file.name)}"


def test_a_catalogue_is_as_the_tool_writes_it(file: Path) -> None:
    text = file.read_text("utf-8")
    assert updated(text) == text, f"{file.name} has texts that are gone, or another order. {FULL.format(file.name)}"


def test_a_translation_has_the_placeholders_and_tags_of_the_english(file: Path) -> None:
    for entry in entries_of(file.read_text("utf-8")):
        for words in entry.translations if entry.text else ():
            assert same_places(entry, words), f"placeholders of {entry.text!r}: {words!r}"
            assert Counter(TAGS.findall(words)) == Counter(TAGS.findall(entry.text)), (
                f"tags of {entry.text!r}: {words!r}"
            )


def same_places(entry: Entry, words: str) -> bool:
    """Return whether a translation keeps the placeholders. A plural may drop the count, as English does."""
    own = Counter(PLACES.findall(words))
    return own in (Counter(PLACES.findall(entry.text)), Counter(PLACES.findall(entry.many or entry.text)))


def test_other_programs_read_a_catalogue_as_we_do(file: Path) -> None:
    text = file.read_text("utf-8")
    ours = catalogue_of(file.stem, lambda: text)
    theirs = read_po(io.BytesIO(text.encode()), locale=file.stem)
    found = {
        f"{one.context}{CONTEXT}{_first(one.id)}" if one.context else _first(one.id): _all(one.string)
        for one in theirs
        if one.id
    }
    assert found == ours.texts()
    assert {ours.form(count) for count in range(200)} == set(range(theirs.num_plurals))
    assert ours.name != ours.code, "the head has X-Name, the name of the language in itself"


def _first(texts: str | tuple[str, ...]) -> str:
    return texts if isinstance(texts, str) else texts[0]


def _all(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def test_a_guess_and_a_text_without_words_stay_english() -> None:
    text = 'msgid ""\nmsgstr ""\n"X-Name: X\\n"\n\n#, fuzzy\nmsgid "A"\nmsgstr "a"\n\nmsgid "B"\nmsgstr ""\n\n'
    text += 'msgctxt "c"\nmsgid "D"\nmsgstr ""\n"d and "\n"more"\n'
    assert catalogue_of("x", lambda: text).texts() == {f"c{CONTEXT}D": ("d and more",)}
