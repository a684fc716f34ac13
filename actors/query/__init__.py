"""The query language of alerts, push filters and the stream's `keyword`: parse once, match many texts.

All of it is pure, and it imports nothing else of ours. Start with `syntax.py` (the language and its errors), then
`words.py` (splitting text into words), `languages.py` (equality of words), `analysis.py` (a text, analysed once for all
queries), `parts.py` (the texts of an event that an alert reads, and the test). Other packages use:

>>> matches(parse("föreläggande OR remiss", "sv"), Analysed("Nya förelägganden", "..."))
True
"""

from actors.query.analysis import Analysed
from actors.query.languages import UnknownLanguage, languages
from actors.query.nodes import Query
from actors.query.parts import EventView, Match, Side, Texts, matches, told_in
from actors.query.syntax import QueryError, parse

__all__ = [
    "Analysed",
    "EventView",
    "Match",
    "Query",
    "QueryError",
    "Side",
    "Texts",
    "UnknownLanguage",
    "languages",
    "matches",
    "parse",
    "told_in",
]
