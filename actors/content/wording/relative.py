"""Past times in 40 locales: "3 minutes ago", "vor 2 Std.", "yesterday", "a few seconds ago".

They change by themselves. Future times do not: "in 3 days" is a deadline, so no future form is known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from actors.content.wording import cldr

PAST = "⟨ago⟩"
_MASK = f" {PAST} "

_RECENT = """
en just now|moments ago|a moment ago|seconds ago|a few seconds ago|less than a minute ago|less than an hour ago
  |in the last minute|in the last hour|in the past hour|within the last hour|within the past hour|in the last day
  |in the last 24 hours|in the past 24 hours
de gerade eben|eben gerade|soeben|vor wenigen sekunden|vor wenigen minuten|vor ein paar sekunden|in der letzten stunde
  |in den letzten 24 stunden
fr à l'instant|il y a quelques secondes|il y a quelques instants|il y a moins d'une minute|il y a moins d'une heure
  |dans la dernière heure
es hace un momento|hace unos segundos|hace un instante|hace instantes|en la última hora
it proprio ora|pochi secondi fa|qualche secondo fa|alcuni secondi fa|un attimo fa|nell'ultima ora
pt agora mesmo|há alguns segundos|há poucos segundos|há um momento|na última hora
nl zojuist|zonet|een paar seconden geleden|enkele seconden geleden|in het afgelopen uur
sv just nu|nyss|alldeles nyss|för några sekunder sedan|den senaste timmen
da lige nu|for få sekunder siden|for et øjeblik siden|inden for den seneste time
nb akkurat nå|nettopp|for noen sekunder siden|den siste timen
fi juuri nyt|hetki sitten|muutama sekunti sitten|viimeisen tunnin aikana
pl przed chwilą|chwilę temu|kilka sekund temu|w ciągu ostatniej godziny
cs právě teď|před chvílí|před několika sekundami|před pár sekundami|za poslední hodinu
sk práve teraz|pred chvíľou|pred niekoľkými sekundami|pred pár sekundami
hu az imént|éppen most|néhány másodperce|pár másodperce
ro chiar acum|acum câteva secunde|acum câteva momente
el μόλις τώρα|πριν από λίγα δευτερόλεπτα|πριν λίγα δευτερόλεπτα|πριν από λίγο
tr az önce|biraz önce|birkaç saniye önce|şimdi
ru только что|несколько секунд назад|минуту назад|час назад|за последний час
uk щойно|кілька секунд тому|хвилину тому|годину тому
ca ara mateix|fa uns segons|fa un moment
vi vừa xong|mới đây|vài giây trước
id baru saja|beberapa detik yang lalu|beberapa detik lalu
ko 방금|방금 전|몇 초 전
ja 本日|たった今|数秒前|数分前
zh 刚刚|剛剛|几秒前|幾秒前|刚才|剛才
th เมื่อสักครู่|เมื่อครู่|เมื่อกี้
"""
"""Forms that CLDR lacks, from sites and from scripts that write "a few seconds ago"."""

_WORD = re.compile(r"[\w']+")
_SHORTEST, _SHORTEST_BYTES = 3, 6
"""Minimum letters, or UTF-8 bytes, of a word for today inside a text: Hungarian's "ma" is also a word elsewhere."""
_LONGEST_WHOLE = 24
# No letter follows, nor a vowel sign of an Indian or the Thai script, which regular expressions do not count as one.
_START, _END = r"(?<![\w$€£])", r"(?![\w\u0900-\u0dff\u0e31-\u0e4e])"
_FIGURE = r"(?<![\d.,$€£])\d+\s?"
_COUNT = r"\s?(?:\d+|(?:[^\W\d_][\w']*\s){1,3}(?:\d+)?)\s?"
"""A figure inside a form, or number words with an approximation: "vor über einer Woche"."""
_UNSPACED = re.compile("[\u0e01-\u0e5b\u3041-\u30ff\u4e00-\u9fff]")
"""Scripts without spaces between words: a character is not a word."""


def rows_of(table: str) -> dict[str, str]:
    """Return a table's lines by their first word; a line that begins with spaces continues the one before."""
    lines = table.replace("\n  |", "|").strip().split("\n")
    return dict(line.split(" ", 1) for line in lines)


def _spaced(phrases: Iterable[str], *, unspaced: bool = False) -> list[str]:
    return [phrase for phrase in phrases if (_UNSPACED.search(phrase) is not None) == unspaced]


def _any_of(phrases: Iterable[str]) -> str:
    """Build an alternation, longest first; a figure may touch its word, and dots are optional."""
    ordered = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    escaped = (re.escape(phrase).replace(r"\#\ ", r"\#").replace(r"\ \#", r"\#") for phrase in ordered)
    return "|".join(phrase.replace(r"\.", r"\.?").replace(r"\#", _COUNT) for phrase in escaped)


def _is_long_enough(phrase: str) -> bool:
    return len(phrase) >= _SHORTEST or len(phrase.encode()) >= _SHORTEST_BYTES


_FORMS = {form: word for word, line in rows_of(cldr.AGO).items() for form in line.split("|")}
_BEFORE = _spaced(form for form in _FORMS if not form.startswith("#"))
_AFTER = [form.removeprefix("# ") for form in _FORMS if form.startswith("#")]
_NAMED = [[part.split("|") for part in line.split("; ")] for line in rows_of(cldr.WORDS).values()]
_TODAY = [word for row in _NAMED for part in (*row[:3], row[4]) for word in part if word]
_PHRASES = [
    *cldr.PAST.replace("\n  |", "|").strip().split("|"),
    *(phrase for line in rows_of(_RECENT).values() for phrase in line.split("|")),
]
_SAID = [phrase for phrase in (*_PHRASES, *_TODAY) if _is_long_enough(phrase)]

_FIGURED_SIGNS = frozenset(part for word in _FORMS.values() for part in _WORD.findall(word))
_SAID_SIGNS = frozenset(max(_WORD.findall(phrase), key=len) for phrase in _spaced(_SAID))
# "A week ago": the figure may be a word if a form names the unit and the past.
_NAMELESS = [form for form in _spaced(_AFTER) if " " in form]
_FIGURED = re.compile(
    rf"{_START}(?:{_any_of(_BEFORE)}){_END}|{_FIGURE}(?:{_any_of(_spaced(_AFTER))}){_END}"
    rf"|{_START}(?:{_any_of(_NAMELESS)}){_END}"
)
_SPOKEN = re.compile(rf"{_START}(?:{_any_of(_spaced(_SAID))}){_END},?")
# "3日前まで" is a deadline.
_JOINED = re.compile(
    rf"{_any_of(_spaced(_SAID, unspaced=True))}"
    rf"|{_FIGURE}(?:{_any_of(_spaced(_AFTER, unspaced=True))})(?:{_END}|(?=に?更新))"
)
_WHOLE = frozenset(word for row in _NAMED for part in row for word in part if word)


def without_past(text: str, signs: Set[str]) -> str:
    """Mask the past times of a short canonical-spelled text. signs: its words."""
    if len(text) <= _LONGEST_WHOLE and text.strip(" .!,") in _WHOLE:
        return _MASK
    if not _FIGURED_SIGNS.isdisjoint(signs):
        text = _FIGURED.sub(_MASK, text)
    if not _SAID_SIGNS.isdisjoint(signs):
        text = _SPOKEN.sub(_MASK, text)
    return text if text.isascii() or not _UNSPACED.search(text) else _JOINED.sub(_MASK, text)
