"""The query language of alerts, push filters and the stream's `keyword`: parse once, match many texts.

All of it is pure, and it imports nothing of the house. Start with `syntax.py` (the language and its errors), then
`words.py` (what a word is), `languages.py` (when two words are the same), `analysis.py` (a text, analysed once for all
queries), `match.py`, `parts.py` (which texts of an event an alert looks at). What other rooms use is here:

>>> matches(parse("föreläggande OR remiss", "sv"), Analysed("Nya förelägganden", "..."))
True
"""

from actors.query.analysis import Analysed
from actors.query.languages import UnknownLanguage, languages
from actors.query.match import matches
from actors.query.nodes import Query
from actors.query.parts import EventView, Match, Texts, told_in
from actors.query.sides import Side
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
