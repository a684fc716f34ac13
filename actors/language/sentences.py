"""Translation of messages, and of whole English sentences from other packages. Pure.

A message has its template and values. Notices and some reasons are plain text: `patterns.txt` has their sentences,
with placeholders for names. Unknown sentences stay as they are, marked as English (`ui.said`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final, NamedTuple

from actors.language.catalogues import ENGLISH, languages
from actors.language.speaking import gettext, language, say_as, speaking
from actors.notification.message_language import MessageLanguages
from storage.records.message import Message, filled, in_english

_PLACE, _LISTED = re.compile(r"%\((\w+)\)s"), re.compile(r"(?<=\)), (?=“)")
_SENTENCES: Final = frozenset({"reason", "rest", "span", "what"})
"""Placeholders for further sentences of ours; the others are names and stay untranslated."""
_END = re.compile(r"(?<=[.!?]) (?=[A-Z\d“])")
_FIGURES: Final = ("count", "score", "times", "bad", "days", "hours", "minutes")
_SHAPES: Final = {"text": "[^“”]+?", **dict.fromkeys(_FIGURES, r"[\d.,]+")}
"""The pattern for a placeholder that does not take any text."""
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_MONTH = re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b")
LONGEST: Final = 600  # The longest text to translate. Longer texts contain web text, and take long to compare.
_MOST: Final = 12  # sentences, or remarks of a row, in one text
_DEEPEST: Final = 3  # the depth of sentences within sentences


def translated(text: str | Message) -> str:
    """Word a message; translate a plain sentence by its pattern, or return it unchanged if none matches."""
    if isinstance(text, Message):
        return _from_message(text)
    if not text or len(text) > LONGEST or language() == ENGLISH:
        return text
    return _translate(text, _DEEPEST) or text


def _from_message(message: Message) -> str:
    template = gettext(message.id)
    if not message.values:
        return translated(template) if template == message.id else template
    values = {
        name: _from_message(value) if isinstance(value, Message) else _part(name, in_english(name, value), _DEEPEST)
        for name, value in message.values.items()
    }
    return filled(template, values)


def translated_lines(text: str) -> str:
    return text if language() == ENGLISH else "\n".join(map(translated, text.split("\n")))


def message_languages(default: str) -> MessageLanguages:
    """Return the translator of mails and messages. default: the language code of those who chose none."""
    return MessageLanguages(tuple(languages()), default, _message, _separator)


def _message(code: str, text: str) -> str:
    with speaking(code):
        return translated_lines(text)


def _separator(code: str) -> str:
    with speaking(code):
        return say_as("figures", ",")


def _translate(text: str, depth: int) -> str | None:
    rows = ("; ", text.split("; ")), (", ", _LISTED.split(text))
    return (
        _translate_list(" ", _sentences(text), depth)
        or _translate_sentence(text, depth)
        or next((it for by, parts in rows if (it := _translate_list(by, parts, depth)) is not None), None)
    )


def _translate_list(between: str, parts: Sequence[str], depth: int) -> str | None:
    if not 1 < len(parts) <= _MOST:
        return None
    translation = [_translate(part, depth) for part in parts]
    return None if None in translation else between.join(part or "" for part in translation)


def _sentences(text: str) -> list[str]:
    """Split a text into sentences. Quotations are not split."""
    ends = [at.start() for at in _END.finditer(text)]
    ends = [end for end in ends if text.count("“", 0, end) == text.count("”", 0, end)]
    return [text[begin:end].strip() for begin, end in pairwise([0, *ends, len(text)])]


def _translate_sentence(text: str, depth: int) -> str | None:
    bare = text.removesuffix(".")
    low, high = bare[:1].lower() + bare[1:], bare[:1].upper() + bare[1:]
    forms = dict.fromkeys((text, f"{high}.", f"{low}.", low, high))
    exact = next((words for form in forms if (words := gettext(form)) != form), None)
    translation = exact or _translate_pattern(bare, depth)
    if translation is None:
        return None
    ended = translation.removesuffix(".") + text[len(bare) :]
    return ended[:1].upper() + ended[1:] if text[:1].isupper() else ended


def _translate_pattern(text: str, depth: int) -> str | None:
    for shape in shapes() if depth else ():
        if shape.piece in text and (match := shape.whole.fullmatch(text)) is not None:
            translation = gettext(shape.pattern)
            if translation != shape.pattern:
                return translation % {name: _part(name, part, depth) for name, part in match.groupdict().items()}
    return None


def _part(name: str, text: str, depth: int) -> str:
    if name == "at":
        return _MONTH.sub(lambda match: say_as("month", match[0]), text)
    if _THOUSANDS.fullmatch(text):
        return text.replace(",", say_as("figures", ","))
    return (_translate(text, depth - 1) or text) if name in _SENTENCES else text


def patterns() -> list[str]:
    text = files("actors.language").joinpath("patterns.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


class Shape(NamedTuple):
    """A pattern's regular expression, for any capital and without its full stop. fragment: its longest fixed text."""

    pattern: str
    piece: str
    whole: re.Pattern[str]


@cache
def shapes() -> tuple[Shape, ...]:
    """Return the shapes of the patterns with placeholders, those with the most fixed text first."""
    with_placeholders = [pattern for pattern in patterns() if "%(" in pattern]
    return tuple(map(_shape, sorted(with_placeholders, key=lambda pattern: -len(_PLACE.sub("", pattern)))))


def _shape(pattern: str) -> Shape:
    pieces = _PLACE.split(pattern.removesuffix(".").replace("%%", "%"))
    seen, regex = set[str](), list[str]()
    for place, fragment in enumerate(pieces):
        if place % 2:
            regex.append(f"(?P={fragment})" if fragment in seen else f"(?P<{fragment}>{_SHAPES.get(fragment, '.+?')})")
            seen.add(fragment)
        elif not place and fragment[:1].isalpha():
            regex.append(f"[{fragment[0].upper()}{fragment[0].lower()}]{re.escape(fragment[1:])}")
        else:
            regex.append(re.escape(fragment))
    fixed = [pieces[0][1:], *pieces[2::2]]
    return Shape(pattern, max(fixed, key=len), re.compile("".join(regex), re.S))
