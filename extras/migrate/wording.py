"""Another program's search words as a query. Pure.

Other programs match any run of characters, or regular expressions; a query has words and phrases. A plain text becomes
a phrase; with `wide`, its last word matches as a prefix ("ticket" finds tickets). Wanted texts are wide, excluded ones
are not, so that the result errs towards too many events. Only regular expressions that list texts are understood:
alternatives, gaps (`.*`), blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from actors.query import Analysed, QueryError, matches, parse
from extras.migrate.plan import shortened

LANGUAGE: Final = "simple"
WHOLE_WORDS: Final = "found as whole words, capitals and accents aside"
BEGINNINGS: Final = "found from the beginning of a word on, capitals and accents aside"
_SLASHED = re.compile(r"/(.+)/([a-z]*)", re.DOTALL)
_MARKS = re.compile(r"[\"“”„]")
_FLAGS = re.compile(r"^\(\?[aiLmsux]+\)")
_GROUPED = re.compile(r"^\((?:\?:|\?P?<\w+>)?([^()?][^()]*)\)$")
_TOKEN = re.compile(
    r"(?P<gap>\.[*+]\??)|(?P<blank>(?:\\s| )[*+]?)|(?P<edge>[\^$]|\\b)|(?P<escaped>\\[^\w\s])"
    r"|\[(?P<one>\w)(?P<other>\w)\]|(?P<plain>[^\\\[\](){}.*+?|^$])"
)
_REPEATED = re.compile(r"[*+?{]")


class Unsayable(Exception):
    """No query can express it; the text explains why."""


def phrase(text: str, *, wide: bool = False) -> str:
    """Return the query that finds a text. Raises Unsayable for one without words.

    >>> phrase("Sold  out"), phrase('"now"*'), phrase("ticket", wide=True), phrase("plan C", wide=True)
    ('"Sold out"', '"now"', '"ticket*"', '"plan C"')
    """
    words = " ".join(_MARKS.sub(" ", text).split()).rstrip("* ")
    if wide and _finds(f'"{words}*"', words):
        return f'"{words}*"'
    if not _finds(f'"{words}"', words):
        raise Unsayable(f"{shortened(text, 60)!r} has no word to look for, or too many")
    return f'"{words}"'


def _finds(query: str, words: str) -> bool:
    """Return whether a query is valid and finds the words it was made from."""
    try:
        return bool(words) and matches(parse(query, LANGUAGE), Analysed("", words))
    except QueryError:
        return False


def lookup(text: str, *, wide: bool = False) -> str:
    """Return the query for a text, or for a regular expression between slashes. Raises Unsayable.

    >>> lookup("sold out"), lookup("/sold|gone/i")
    ('"sold out"', '("sold" OR "gone")')
    """
    slashed = _SLASHED.fullmatch(text.strip())
    return phrase(text, wide=wide) if slashed is None else pattern(slashed[1], wide=wide)


def pattern(expression: str, *, wide: bool = False) -> str:
    r"""Return the query for a regular expression that only lists texts. Raises Unsayable for any other.

    >>> pattern(r"(?i)^price:\s+(?:\d+)?")
    Traceback (most recent call last):
    extras.migrate.wording.Unsayable: '(?i)^price:\\s+(?:\\d+)?' is more than a list of texts
    >>> pattern(r"(?i)(sold out|[Gg]one\.)"), pattern("(?P<all>open.*Sunday)")
    ('("sold out" OR "Gone.")', '("open" "Sunday")')
    """
    body = _FLAGS.sub("", expression.strip())
    grouped = _GROUPED.fullmatch(body)
    body = body if grouped is None else grouped[1]
    sides = [_side(side, expression, wide) for side in re.split(r"(?<!\\)\|", body)]
    return any_of(sides)


def _side(text: str, whole: str, wide: bool) -> str:
    """Return the query for one alternative: all its texts, in any order."""
    parts = "".join(_signs(text, whole)).split("\0")
    queries = [phrase(part, wide=wide) for part in parts if part.strip()]
    if not queries:
        raise Unsayable(f"{shortened(whole, 60)!r} matches anything")
    return queries[0] if len(queries) == 1 else f"({' '.join(queries)})"


def _signs(text: str, whole: str) -> Iterator[str]:
    """Yield a text's characters and blanks, and a NUL for each gap."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        kind = None if found is None else found.lastgroup
        if found is None or (kind not in ("gap", "blank") and _REPEATED.match(text, found.end())):
            raise Unsayable(f"{shortened(whole, 60)!r} is more than a list of texts")
        at = found.end()
        match kind:
            case "gap":
                yield "\0"
            case "blank":
                yield " "
            case "edge":
                yield ""
            case "other":
                if found["one"].casefold() != found["other"].casefold():
                    raise Unsayable(f"{shortened(whole, 60)!r} is more than a list of texts")
                yield found["one"]
            case _:
                yield found[0].removeprefix("\\")


def any_of(queries: Sequence[str]) -> str:
    """Return a query for any of several.

    >>> any_of(['"a"']), any_of(['"a"', '"b"', '"a"'])
    ('"a"', '("a" OR "b")')
    """
    different = list(dict.fromkeys(queries))
    return different[0] if len(different) == 1 else f"({' OR '.join(different)})"


def none_of(queries: Sequence[str]) -> str:
    """Return a query that excludes several.

    >>> none_of(['"a"', '("b" OR "c")'])
    '-"a" -("b" OR "c")'
    """
    return " ".join(f"-{query}" for query in dict.fromkeys(queries))


def whole(*parts: str) -> str:
    """Return a query for all parts together. Raises Unsayable if it is too long."""
    query = " ".join(part for part in parts if part)
    try:
        parse(query, LANGUAGE)
    except QueryError as error:
        raise Unsayable(str(error)) from None
    return query
