"""The words of pages, in the language of who reads them. Pure but for whose turn it is, which the face tells.

`say("Paused.")` is the whole of it: the English text is the key. Values have names, `say("Key %(name)s", name=name)`,
and a whole number among them is written with the language's separators. A template has the same functions, and
`{% trans %}` for a sentence with tags in it. What a table has, and is said later, is `noted("Paused.")` there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from api.dashboard.language.catalogues import CONTEXT, NATIVE, Catalogue, languages

_spoken: ContextVar[Catalogue] = ContextVar("language", default=NATIVE)


def speak(code: str) -> None:
    """Have what is said from now on, in this task, be in a language; English for one that is not there."""
    _spoken.set(languages().get(code, NATIVE))


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Have what is said meanwhile be in a language."""
    before = _spoken.set(languages().get(code, NATIVE))
    try:
        yield
    finally:
        _spoken.reset(before)


def language() -> str:
    """Return the code of the language that is spoken."""
    return _spoken.get().code


def say(text: str, /, **values: object) -> str:
    """Return a text in the language that is spoken.

    >>> say("Key %(name)s: %(count)s requests", name="desk", count=1200)
    'Key desk: 1,200 requests'
    """
    said = gettext(text)
    return said % _written(values) if values else said


def say_many(one: str, many: str, count: int, /, **values: object) -> str:
    """Return what fits a count, which it may name as `%(count)s`.

    >>> say_many("%(count)s key", "%(count)s keys", 1), say_many("%(count)s key", "%(count)s keys", 0)
    ('1 key', '0 keys')
    """
    return ngettext(one, many, count) % _written({"count": count, **values})


def say_as(context: str, text: str, /) -> str:
    """Return a text that means several things in English, by what it is here.

    >>> say_as("month", "May")
    'May'
    """
    found = _spoken.get().find(context + CONTEXT + text)
    return text if found is None else found[0]


def noted(text: str, /) -> str:
    """Return a text as it is: a table has it, and it is said when somebody reads it."""
    return text


def noted_as(context: str, text: str, /) -> str:
    """Return a text as it is, that will be said by what it is (`say_as`)."""
    return text


def each_said(table: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows of a table, each a value and texts, with the texts said."""
    return [(value, *map(say, texts)) for value, *texts in table]


def gettext(text: str) -> str:
    """Return a text with its placeholders."""
    found = _spoken.get().find(text)
    return text if found is None else found[0]


def ngettext(one: str, many: str, count: int) -> str:
    """Return what fits a count, with its placeholders."""
    spoken = _spoken.get()
    found, form = spoken.find(one), spoken.form(count)
    return (one, many)[NATIVE.form(count)] if found is None else found[min(form, len(found) - 1)]


def number(value: int) -> str:
    """Return a whole number.

    >>> number(1200)
    '1,200'
    """
    return f"{value:,}".replace(",", say_as("figures", ","))


def decimal(value: float, places: int) -> str:
    """Return a number with decimals.

    >>> decimal(1234.5, 2)
    '1,234.50'
    """
    whole, _, rest = f"{value:,.{places}f}".partition(".")
    whole = whole.replace(",", say_as("figures", ","))
    return f"{whole}{say_as('figures', '.')}{rest}" if rest else whole


def _written(values: dict[str, object]) -> dict[str, object]:
    return {name: number(value) if type(value) is int else value for name, value in values.items()}
