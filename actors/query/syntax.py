"""The query language: words (all must occur), OR, "phrases", -exclusions, (groups), prefix*.

    query   = [ choice ]                       nothing matches everything
    choice  = all { "OR" all }
    all     = [ "-" ] item { [ "AND" ] [ "-" ] item }
    item    = word | "phrase" | condition | "(" choice ")"

`conditions` defines a condition. OR and AND are operators only in capitals; in quotes they are words. A word may end
in `*`. Errors give the character where they begin, counted from 1, and a correction. The limits bound the cost of a
query. Nodes are frozen, comparable, and printable as understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from actors.query import words
from actors.query.conditions import BEGINS, Condition, ConditionError, misspelling, read_condition, unknown_unit
from actors.query.words import Language, fold, language


@dataclass(frozen=True, slots=True)
class Word:
    """A word, matched by any of its keys."""

    text: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a word, without accents; it matches whole words, not stems."""

    text: str

    def __str__(self) -> str:
        return f"{self.text}*"


Unit = Word | Prefix
Path = tuple[Unit, ...]
Step = tuple[Path, ...]  # alternative readings of one step of a phrase: (("e", "post"), ("epost",))


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in a row."""

    steps: tuple[Step, ...]

    def __str__(self) -> str:
        # Words that may be joined keep their hyphen: "e-post" and not "e post".
        words = (("-" if len(step) > 1 else " ").join(str(unit) for unit in step[0]) for step in self.steps)
        return f'"{" ".join(words)}"'


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; without parts, everything matches."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Any | All) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Any:
    """One part holds."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return " OR ".join(f"({part})" if isinstance(part, Any) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Node

    def __str__(self) -> str:
        grouped = isinstance(self.part, Any | All | Not) or (isinstance(self.part, Condition) and self.part.places)
        return f"-({self.part})" if grouped else f"-{self.part}"


Node = Word | Prefix | Phrase | Condition | All | Any | Not

Term = Word | Prefix | Phrase | Condition


def leaves(node: Node) -> Iterator[Term]:
    """Yield every word, prefix, phrase and condition of a query in order, also excluded ones."""
    match node:
        case Not(part):
            yield from leaves(part)
        case All(parts) | Any(parts):
            for part in parts:
                yield from leaves(part)
        case _:
            yield node


def units(node: Node) -> Iterator[Unit]:
    for leaf in leaves(node):
        if isinstance(leaf, Phrase):
            yield from (unit for step in leaf.steps for path in step for unit in path)
        elif not isinstance(leaf, Condition):
            yield leaf


def terms(node: Node) -> Iterator[Term]:
    """Yield the words, prefixes and phrases of a query in order, without the excluded ones."""
    match node:
        case Word() | Prefix() | Phrase() | Condition():
            yield node
        case Not():
            return
        case All((Phrase() as row, *needs)) if needs and all(map(_is_pair, needs)):
            yield row  # it contains whatever else a run of an unspaced script needs
        case All(parts) | Any(parts):
            for part in parts:
                yield from terms(part)
        case _:
            assert_never(node)


def _is_pair(node: Node) -> bool:
    return isinstance(node, Word) and len(node.text) == 2 and words.unspaced(node.text)


def has_conditions(node: Node) -> bool:
    return any(isinstance(leaf, Condition) for leaf in leaves(node))


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. text: as typed. `str(query)`: as understood."""

    text: str
    language: str
    root: Node

    def __str__(self) -> str:
        return str(self.root)


MOST_CHARACTERS, MOST_TERMS, MOST_NESTING, SHORTEST_PREFIX = 4_096, 256, 32, 2

_TOKEN = re.compile(
    r'(?P<open>\()|(?P<close>\))|(?P<quote>["“”„])|(?P<not>[-\u2212\u2013](?=[^\s)]))|(?P<word>[^\s()"“”„]+)'
)
_QUOTE = re.compile('["“”]')
_HINTS = {"-": "put it right before the excluded word", "|": "write OR", "&": "a space already means AND"}
_HINTS |= dict.fromkeys("<>=", "a condition has no spaces, as in price<300")
_HINTS |= dict.fromkeys("$€£¥", "a currency joins its number, as in price<300EUR")


class QueryError(Exception):
    """An invalid query. reason: a sentence. position: the character it refers to, from 1."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(f"{reason} (at character {at + 1})")
        self.reason, self.position = reason, at + 1


def parse(text: str, language_code: str, *, strict: bool = False) -> Query:
    """Parse a query. Raises QueryError, UnknownLanguage. strict: refuse words that look like a misspelled condition."""
    lang = language(language_code)
    if len(text) > MOST_CHARACTERS:
        raise QueryError(f"a query has at most {MOST_CHARACTERS} characters, not {len(text)}", MOST_CHARACTERS)
    reader = _Reader(_tokens(text, lang, strict))
    root = reader.alternatives(0) if reader.token.kind != "end" else All(())
    if reader.token.kind == "close":
        raise QueryError("this ) closes nothing", reader.token.at)
    return Query(text, language_code, root)


class _Token(NamedTuple):
    kind: str  # open, close, not, or, and, item, end
    at: int
    node: Node = All(())


def _tokens(text: str, lang: Language, strict: bool) -> list[_Token]:
    tokens: list[_Token] = []
    terms = at = 0
    while match := _TOKEN.search(text, at):
        at = match.end()
        token, at = _token(match, text, lang)
        is_word = match.lastgroup == "word" and isinstance(token.node, Word | Phrase)
        if strict and (advice := misspelling(match[0]) if is_word else unknown_unit(token.node, text[at:])):
            raise QueryError(advice, match.start())
        terms += sum(1 for _ in units(token.node)) + isinstance(token.node, Condition)
        if terms > MOST_TERMS:
            raise QueryError(f"a query has at most {MOST_TERMS} words", token.at)
        tokens.append(token)
    return [*tokens, _Token("end", len(text))]


def _token(match: re.Match[str], text: str, lang: Language) -> tuple[_Token, int]:
    at, kind = match.start(), match.lastgroup
    if kind == "quote":
        closing = _QUOTE.search(text, at + 1)
        if closing is None:
            raise QueryError("this quotation mark is not closed", at)
        return _Token("item", at, _item(text[at + 1 : closing.start()], at, lang)), closing.end()
    if kind != "word":
        return _Token(str(kind), at), match.end()
    word = match[0]
    if (prefix := BEGINS.match(word)) and (tokens := _condition(word, prefix.end() == len(word), match, text)):
        return tokens
    if word in ("OR", "AND", "NOT"):
        return _Token(word.lower(), at), match.end()
    return _Token("item", at, _item(word, at, lang)), match.end()


def _condition(word: str, may_quote: bool, match: re.Match[str], text: str) -> tuple[_Token, int] | None:
    """Return a condition, None if it only begins like one. may_quote: its value may follow in quotation marks."""
    end = match.end()
    if may_quote and (quote := _QUOTE.match(text, end)):
        if (closing := _QUOTE.search(text, quote.end())) is None:
            raise QueryError("this quotation mark is not closed", end)
        word, end = word + text[quote.end() : closing.start()], closing.end()
    try:
        condition = read_condition(word)
    except ConditionError as error:
        raise QueryError(str(error), match.start()) from None
    return None if condition is None else (_Token("item", match.start(), condition), end)


def _with_places(parts: list[Node]) -> list[Node]:
    """Move the conditions of a group that only name a place into its other conditions, if there are any."""
    places = tuple(part for part in parts if isinstance(part, Condition) and part.names_place)
    others = [part for part in parts if isinstance(part, Condition) and not part.names_place]
    if not places or not others:
        return parts
    return [part.within(places) if isinstance(part, Condition) else part for part in parts if part not in places]


def _item(text: str, at: int, lang: Language) -> Node:
    """Return the node of a word or the inside of a phrase: often one word, else words in a row."""
    stem, is_prefix = (text[:-1], True) if text.endswith("*") else (text, False)
    if "*" in stem:
        raise QueryError("a * can only end a word", at)
    steps, required = list[Step](), list[Node]()
    for shape in map(words.shape, words.tokens(stem)):
        if len(steps) + len(shape.row) > MOST_TERMS:
            raise QueryError(f"a query has at most {MOST_TERMS} words", at)
        _add_steps(shape, lang, steps, required)
    if not steps:
        hint = _HINTS.get(stem[:1], "there is no letter, digit or emoji in it")
        raise QueryError(f"{text[:40]!r} has no searchable word: {hint}", at)
    if is_prefix:
        steps[-1] = tuple((*path[:-1], _prefix(path[-1], stem, at)) for path in steps[-1])
    row: Node = Phrase(tuple(steps))
    if len(steps) == 1 and len(steps[0]) == 1 and len(steps[0][0]) == 1:
        row = steps[0][0][0]
    elif len(steps) == 2 and len(required) == 1 and not is_prefix:
        return required[0]  # a pair of an unspaced script is enough
    return All((row, *required)) if required and not is_prefix else row


def _add_steps(shape: words.Shape, lang: Language, steps: list[Step], required: list[Node]) -> None:
    """Add the steps of one chunk. Pairs of an unspaced script are needed too: they are rarer than single characters."""

    def unit(word: str) -> Unit:
        return Word(word, lang.keys(word))

    readings = {reading.start: reading for reading in shape.readings if reading.in_queries}
    at = 0
    while at < len(shape.row):
        reading = readings.get(at)
        end = reading.end if reading else at + 1
        path: Path = tuple(unit(word) for word in shape.row[at:end])
        steps.append((path, (unit(reading.word),)) if reading else (path,))
        at = end
    required.extend(unit(r.word) for r in shape.readings if not r.in_queries and r.end - r.start == 2)


def _prefix(unit: Unit, text: str, at: int) -> Unit:
    beginning = fold(unit.text)
    if words.unspaced(beginning):
        return unit  # a run of characters is found inside a longer one anyway
    if len(beginning) < SHORTEST_PREFIX or text[-1:].isspace():
        raise QueryError(f"a * follows a word of at least {SHORTEST_PREFIX} letters or digits", at)
    return Prefix(beginning)


class _Reader:
    """Recursive descent over the tokens; `token` is the next one."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = iter(tokens)
        self.token = next(self._tokens)

    def alternatives(self, depth: int) -> Node:
        parts = [self._all(depth)]
        while self.token.kind == "or":
            self._next()
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Any(tuple(parts))

    def _all(self, depth: int) -> Node:
        parts = [self._part(depth)]
        while self.token.kind not in ("or", "close", "end"):
            if self.token.kind == "and":
                self._next()
            parts.append(self._part(depth))
        parts = _with_places(parts)
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _part(self, depth: int) -> Node:
        token = self.token
        self._next()
        match token.kind:
            case "item":
                return token.node
            case "not":
                if self.token.kind not in ("item", "open"):
                    raise QueryError("- or NOT must be right before the excluded word, phrase or group", token.at)
                return Not(self._part(depth))
            case "open":
                if depth >= MOST_NESTING:
                    raise QueryError(f"parentheses nest at most {MOST_NESTING} deep", token.at)
                if self.token.kind == "close":
                    raise QueryError("these parentheses are empty", token.at)
                group = self.alternatives(depth + 1)
                if self.token.kind != "close":
                    raise QueryError("this ( is not closed", token.at)
                self._next()
                return group
            case "or" | "and":
                operator = token.kind.upper()
                raise QueryError(f"{operator} needs a word before and after it (the word itself: quote it)", token.at)
            case "close":
                raise QueryError("there is no word before this )", token.at)
            case _:
                raise QueryError("the query ends before the expected word", token.at)

    def _next(self) -> None:
        self.token = next(self._tokens, self.token)
