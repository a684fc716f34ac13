"""Bytes to text, mark-up to lines, and the stored forms."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.bodies.encoding import decode
from actors.content.bodies.text import cap, normalise, plain
from storage.records.event import CONTENT_CAP


def test_a_byte_order_mark_wins_over_a_header_that_lies() -> None:
    decoded = decode("\ufeffhé".encode(), "text/html; charset=iso-8859-1")
    assert (decoded.text, decoded.encoding) == ("hé", "utf-8")


def test_iso_8859_1_means_windows_1252() -> None:
    assert decode(b"\x93quoted\x94", "text/plain; charset=ISO-8859-1").text == "“quoted”"


def test_utf8_bytes_are_read_as_utf8_under_any_single_byte_charset() -> None:
    decoded = decode("Straße".encode(), "text/html; charset=iso-8859-1")
    assert decoded.text == "Straße"
    assert not decoded.damaged
    assert "iso-8859-1" not in decoded.encoding


def test_the_xml_declaration_and_the_meta_element_are_read() -> None:
    assert decode('<?xml version="1.0" encoding="windows-1251"?><a>Привет'.encode("cp1251"), "").text.endswith("Привет")
    assert decode("<meta charset=gb2312><p>中文".encode("gb18030"), "").text.endswith("中文")


def test_utf16_without_a_mark_is_seen_by_its_zero_bytes() -> None:
    assert decode("<?xml?><rss>é".encode("utf-16-le"), "").text == "<?xml?><rss>é"


def test_a_body_that_was_cut_in_a_character_is_still_utf8_and_marked() -> None:
    decoded = decode("naïve café"[:-1].encode() + b"\xc3", "text/html; charset=utf-8")
    assert (decoded.text, decoded.damaged) == ("naïve caf", True)


def test_codecs_that_are_no_charsets_are_refused() -> None:
    for name in ("zlib", "rot13", "utf-7", "unicode_escape", "undefined", "idna", "x" * 5000):
        assert decode(b"plain +AGE-", f"text/html; charset={name}").text == "plain +AGE-"


@given(st.binary(max_size=400), st.text(max_size=60))
def test_decoding_never_fails(body: bytes, content_type: str) -> None:
    assert isinstance(decode(body, content_type).text, str)
    decode(body, f"text/html; charset={content_type}")


def test_blocks_cells_and_breaks_become_lines() -> None:
    assert plain(
        "<p>one<br>two</p><ul><li>a</li><li>b</li></ul><table><tr><td>x</td><td>y</td></tr></table>"
    ).split() == ["one", "two", "a", "b", "x", "y"]


def test_scripts_styles_and_hidden_parts_are_no_text() -> None:
    fragment = "<script>bad()</script><style>p{}</style><p hidden>no</p><p style='display: none'>no</p><p>yes"
    assert plain(fragment) == "yes"


def test_entities_are_decoded_also_when_a_feed_escaped_them_twice() -> None:
    assert plain("Fish &amp;amp; chips &#8217;n&#8217; more") == "Fish & chips ’n’ more"
    assert plain("AT&T a < b") == "AT&T a < b"


def test_text_between_angle_brackets_that_is_no_tag_stays() -> None:
    assert plain("2 < 3 and 4 > 3") == "2 < 3 and 4 > 3"


@given(st.text())
def test_normalised_text_is_stable_nfc_and_encodable(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    once.encode()


@given(st.text())
def test_plain_text_never_fails_and_holds_no_controls(text: str) -> None:
    assert not [c for c in plain(text) if unicodedata.category(c) == "Cc" and c != "\n"]


def test_the_cap_is_on_a_character_boundary() -> None:
    text, cut = cap("é" * CONTENT_CAP)
    assert cut
    assert text == "é" * (CONTENT_CAP // 2)
    assert cap("short") == ("short", False)


RUSSIAN = "Расписание. Линия Северная открыта, сведения обновляются каждый день в восемь часов утра."
JAPANESE = "時刻表。北線は毎日午前八時から運行しています。料金は千円です。"
LANGUAGES = {
    "cp1251": RUSSIAN,
    "koi8-r": RUSSIAN,
    "cp1253": "Δρομολόγια πλοίων. Η βόρεια γραμμή είναι ανοιχτή κάθε μέρα από τις οκτώ.",
    "cp1255": "לוח זמנים. הקו הצפוני פתוח בכל יום משעה שמונה בבוקר.",
    "cp932": JAPANESE,
    "euc_jp": JAPANESE,
    "cp949": "시간표. 북선은 매일 아침 여덟 시부터 운행합니다.",
    "gb18030": "时刻表。北线每天早上八点开放。票价十元，学生免费。",
    "cp1252": "L'horaire d'été de la ligne nord: ouverte chaque jour dès huit heures, fermée à Noël. Où êtes-vous?",
}
LABELS = {
    "cp1251": ("windows-1251", "x-cp1251", "cp1251", "WIN-1251"),
    "koi8-r": ("KOI8-R", "koi8", "koi"),
    "cp932": ("Shift_JIS", "x-sjis", "sjis", "windows-31j", "ms_kanji"),
    "euc_jp": ("euc-jp", "x-euc-jp"),
}


def document(text: str, head: str = "") -> str:
    return f"<html><head>{head}<title>{text[:12]}</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize("charset", LANGUAGES)
def test_a_charset_that_is_declared_nowhere_or_as_latin_is_found_from_the_letters(charset: str) -> None:
    page = document(LANGUAGES[charset])
    for content_type in ("", "text/html; charset=iso-8859-1"):
        assert decode(page.encode(charset), content_type).text == page
    late = document(LANGUAGES[charset], "<meta charset=iso-8859-1>")
    assert decode(late.encode(charset), "").text == late


@pytest.mark.parametrize(("charset", "label"), [(name, label) for name in LABELS for label in LABELS[name]])
def test_a_charset_is_read_by_any_of_its_names_however_late_it_is_declared(charset: str, label: str) -> None:
    said = f'<meta http-equiv="Content-Type" content="text/html; charset={label}">'
    for before in ("", "<!-- <meta charset=utf-16> -->", f"<style>{'p {} ' * 900}</style>"):
        page = document(LANGUAGES[charset], before + said)
        for content_type in ("text/html", "text/html; charset=iso-8859-1", "text/html; charset=utf-8"):
            assert decode(page.encode(charset), content_type).text == page
    page = document(LANGUAGES[charset])
    assert decode(page.encode(charset), f"text/html; charset={label}").text == page
