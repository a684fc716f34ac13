"""Short texts about a date: a date alone, a label with its date, the stamp of an edit.

Texts are canonical (see `canonical`). `dates` recognises dates in 40 locales; the words for editing a page are here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from actors.content.wording.dates import (
    BESIDE,
    MONTHS,
    ORDINALS,
    SURE_SHORT,
    TOKEN,
    WEEKDAYS,
    DateSpan,
    around,
    dates_in,
)
from actors.content.wording.relative import PAST, rows_of
from actors.content.wording.words import words_in

_LABEL_WORDS = 3
_MOST_WORDS = 16
_HEDGE = 3
"""Maximum words that qualify the time of an edit."""
_AT = frozenset(
    "at um kl klo à a o в om ore alle las h uhr uur on am pm utc gmt cet est edt pst le den los la les".split()  # noqa: SIM905
)
"""Words next to a date and a time of day."""
_MASK = re.compile(r"⟨\w+⟩")


def _beside(text: str, dates: Sequence[DateSpan]) -> Iterator[str]:
    """Yield the words of a text outside dates, weekdays, figures and masks."""
    rest = _MASK.sub(" ", " ".join(around(text, dates)))
    for found in TOKEN.finditer(rest):
        token = found[0]
        if not (token.isdecimal() or token in BESIDE or token in ORDINALS):
            yield token


@lru_cache(maxsize=256)
def is_only_date(text: str) -> bool:
    """Whether a canonical text is only dates: with weekdays, times of day, or a month by itself."""
    dates = dates_in(text)
    # Two words are enough to decide; most texts have many more.
    rest = list(islice((word for word in _beside(text, dates) if word not in _AT), 2))
    if dates:
        return not rest
    return len(rest) == 1 and rest[0] in MONTHS and (len(rest[0]) > 3 or rest[0] in SURE_SHORT)


def is_dated(text: str) -> bool:
    """Whether a canonical text is a label with its own date, not the date of a page's edit."""
    if words_in(text) > _MOST_WORDS or speaks_of_edits(text):
        return False
    dates = dates_in(text)
    if len(dates) != 1 or not dates[0].has_year:
        return False
    label, rest = text[: dates[0].start].split(), text[dates[0].end :].split()
    if not BESIDE.issuperset(rest) or any(word in WEEKDAYS and len(word) > 2 for word in label):
        return False
    words = [word for word in label if len(word) > 1 and word not in BESIDE and not _MASK.fullmatch(word)]
    return 1 <= len(words) <= _LABEL_WORDS


def speaks_of_edits(text: str) -> bool:
    """Whether a canonical text has a word for updating, editing, reviewing or accessing a page."""
    return _EDITED.search(text) is not None


def is_same_stamp(one: str, other: str) -> bool:
    """Whether two canonical texts are edit stamps that differ in a few words before a past time.

    >>> is_same_stamp("updated ⟨ago⟩", "updated well over a ⟨ago⟩")
    True
    """
    (short, past, tail), (long, _, long_tail) = (text.partition(PAST) for text in sorted((one, other), key=len))
    few, many = short.split(), long.split()
    hedge = len(many) - len(few)
    if not past or tail != long_tail or not 0 < hedge <= _HEDGE:
        return False
    # The extra words may also precede a final "a".
    fits = any(many[:at] + many[at + hedge :] == few for at in (len(few), len(few) - 1) if at > 0)
    return fits and speaks_of_edits(short + tail)


_EDITED_WORDS = """
en update|updated|modified|reviewed|checked|generated|accessed|edited|revised|today
de stand|aktualisiert|geändert|bearbeitet|überprüft|aktualisierung
fr mis à jour|mise à jour|modifié*|actualisé*|révisé*
es actualizad*|modificado|modificada|revisad*|última actualización
it aggiornat*|modificato|modificata|ultimo aggiornamento
pt atualizad*|modificado|modificada|revisad*|última atualização
nl bijgewerkt|gewijzigd|laatst gewijzigd|herzien
sv uppdaterad|uppdaterat|ändrad|granskad
da opdateret|ændret|sidst opdateret
nb oppdatert|endret|sist oppdatert
fi päivitetty|muokattu|tarkistettu
pl zaktualizowan*|zmodyfikowan*|aktualizacja|ostatnia aktualizacja
cs aktualizováno|aktualizován*|upraveno|změněno
sk aktualizované|upravené|zmenené
hu frissítve|módosítva|utolsó frissítés
ro actualizat*|modificată|ultima actualizare
el ενημερώθηκε|τελευταία ενημέρωση|τροποποιήθηκε
tr güncellendi|güncelleme|son güncelleme|değiştirildi
ru обновлен*|обновлён*|изменен*|изменён*|обновление
uk оновлен*|змінен*|оновлення
bg обновен*|актуализиран*|променен*
hr ažurirano|izmijenjeno|zadnja izmjena
ca actualitza*|modificat|última actualització
ar آخر تحديث|تم التحديث|تحديث
he עודכן|עדכון אחרון
fa بهروزرسانی|بروزرسانی|آخرین ویرایش
hi अद्यतन|अंतिम अपडेट|अपडेट किया गया
id diperbarui|terakhir diperbarui|diubah
vi cập nhật|sửa đổi
th อัปเดต|ปรับปรุงล่าสุด|แก้ไขล่าสุด
ja 更新|最終更新|改定日
zh 更新|更新于|修改于|最后修改|最後修改
ko 업데이트|수정일|최종 수정
"""
"""Words for updating, in canonical spelling; CLDR has none. `*` matches any end of a word."""


def _edited() -> re.Pattern[str]:
    spaced, joined = [], []
    for words in rows_of(_EDITED_WORDS).values():
        for word in words.split("|"):
            if re.search("[\u0e01-\u0e5b\u3041-\u30ff\u4e00-\u9fff]", word):
                joined.append(re.escape(word))
            else:
                spaced.append(rf"{re.escape(word[:-1])}\w*" if word.endswith("*") else rf"{re.escape(word)}(?!\w)")
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(spaced))})|{'|'.join(sorted(joined))}")


_EDITED = _edited()
