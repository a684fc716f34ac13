from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.query import words
from actors.query.analysis import word_spans


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


def row(text: str) -> list[str]:
    return [word for chunk in words.chunks(words.plain(text)) for word in words.shape(chunk).row]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("New price, new plan", ["New", "price", "new", "plan"]),
        ("e-post’s C++ .NET U.S. 1,000", ["e", "post", "s", "C++", ".NET", "U", "S", "1,000"]),
        ("東京 news", ["東", "京", "news"]),
        ("STRASSE Straße", ["STRASSE", "Straße"]),
        ("İstanbul ﬁne ŉ", ["İstanbul", "ﬁne", "ŉ"]),
        ("e\u0301te\u0301 so\u00adft", ["e\u0301te\u0301", "so\u00adft"]),
        ("\u1112\u1161\u11ab\u1100\u116e", ["\u1112\u1161\u11ab", "\u1100\u116e"]),
        ("👩\u200d💻 🇸🇪 👍🏽", ["👩\u200d", "💻", "🇸🇪", "👍"]),
        ("\u200fשלום\u200e abc", ["שלום", "abc"]),
        ("", []),
    ],
)
def test_a_words_offset_is_that_in_the_original_text(text: str, places: list[str]) -> None:
    assert found(text) == places


@settings(max_examples=500)
@given(st.text(max_size=20))
def test_every_word_of_any_text_has_its_place(text: str) -> None:
    spans, expected = word_spans(text), row(text)
    assert len(spans) == len(expected)
    for (start, end), word in zip(spans, expected, strict=True):
        assert 0 <= start < end <= len(text)
        assert word in words.plain(text[start:end]).replace(",", ".")


def test_composed_characters_stay_together() -> None:
    """Each pair of Unicode's canonical compositions, between two letters."""
    for code in range(0x80, 0x20000):
        parts = unicodedata.decomposition(chr(code))
        if " " in parts and not parts.startswith("<"):
            text = "x" + "".join(chr(int(part, 16)) for part in parts.split()) + "y"
            assert len(found(text)) == len(row(text)) and "" not in found(text), hex(code)
