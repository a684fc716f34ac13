"""The ferry's notices in several languages, an endless series for the page and the feed."""

from __future__ import annotations

from typing import Final, NamedTuple


class Notice(NamedTuple):
    """One notice. tongue: the language's name; language: its code."""

    language: str
    tongue: str
    title: str
    text: str


_LINES: Final = (
    ("en", "English", "Sailing {n} is moved", "Sailing {n} leaves at {time} from the west pier until further notice."),
    ("sv", "Swedish", "Extra tur nummer {n}", "Extra tur nummer {n} går klockan {time} från västra bryggan på lördag."),
    ("de", "German", "Fahrt {n} fällt aus", "Wegen starken Windes fällt Fahrt {n} um {time} Uhr am Sonntag aus."),
    ("fr", "French", "Traversée {n} retardée", "La traversée {n} part à {time} en raison des travaux sur le quai."),
    ("es", "Spanish", "Nueva salida {n}", "La nueva salida {n} zarpa a las {time} desde el muelle del este."),
    ("ja", "Japanese", "第{n}便のお知らせ", "第{n}便は{time}に東桟橋から出航します。"),
    ("pl", "Polish", "Kurs {n} przełożony", "Kurs {n} zostaje przełożony na godzinę {time} z powodu mgły."),
    ("el", "Greek", "Το δρομολόγιο {n}", "Το δρομολόγιο {n} αναχωρεί στις {time} από την ανατολική προβλήτα."),
)


def notice(number: int) -> Notice:
    """Return the notice with a number, from 0 on; no two are alike.

    >>> notice(0).title, notice(1).tongue, notice(0).language == notice(8).language
    ('Sailing 101 is moved', 'Swedish', True)
    """
    language, tongue, title, text = _LINES[number % len(_LINES)]
    minutes = 360 + number * 95 % 900
    values = {"n": 101 + number, "time": f"{minutes // 60}:{minutes % 60:02d}"}
    return Notice(language, tongue, title.format(**values), text.format(**values))
