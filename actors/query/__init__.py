"""The query language of alerts, push filters and the stream's `keyword`: parse once, match many texts.

All of it is pure, and it imports nothing else of ours. Start with `syntax.py` (the language and its errors), then
`words.py` (the words of a text and their equality), `analysis.py` (a text, analysed once for all queries), `parts.py`
(the texts of an event that an alert reads, and the test). Other packages use:

>>> matches(parse("föreläggande OR remiss", "sv"), AnalysedText("Nya förelägganden", "..."))
True
"""

from actors.query.analysis import AnalysedText
from actors.query.parts import EventSide, EventView, Match, Texts, decode_event, matches
from actors.query.syntax import Query, QueryError, parse
from actors.query.words import UnknownLanguage, languages

__all__ = [
    "AnalysedText",
    "EventSide",
    "EventView",
    "Match",
    "Query",
    "QueryError",
    "Texts",
    "UnknownLanguage",
    "decode_event",
    "languages",
    "matches",
    "parse",
]
