"""Page texts in the reader's language. Pure, except for the current language, which the face sets.

`say("Paused.")` is all: the English text is the key. Values have names, `say("Key %(name)s", name=name)`; whole numbers
among them get the language's separators. Templates have the same functions, and `{% trans %}` for sentences with tags.
Texts in tables, which are translated later, are marked `noted("Paused.")`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from actors.language.catalogues import CONTEXT, NATIVE, Catalogue, languages

_current: ContextVar[Catalogue] = ContextVar("language", default=NATIVE)


def set_language(code: str) -> None:
    """Set the language of the current task; English if unknown."""
    _current.set(languages().get(code, NATIVE))


@contextmanager
def speaking(code: str) -> Iterator[None]:
    before = _current.set(languages().get(code, NATIVE))
    try:
        yield
    finally:
        _current.reset(before)


def language() -> str:
    return _current.get().code


def say(text: str, /, **values: object) -> str:
    """Return a text in the current language.

    >>> say("Key %(name)s: %(count)s requests", name="desk", count=1200)
    'Key desk: 1,200 requests'
    """
    translation = gettext(text)
    return translation % _written(values) if values else translation


def say_many(one: str, many: str, count: int, /, **values: object) -> str:
    """Return the form that fits a count; the text may name it as `%(count)s`.

    >>> say_many("%(count)s key", "%(count)s keys", 1), say_many("%(count)s key", "%(count)s keys", 0)
    ('1 key', '0 keys')
    """
    return ngettext(one, many, count) % _written({"count": count, **values})


def say_as(context: str, text: str, /) -> str:
    """Return a text that is ambiguous in English, translated by its context.

    >>> say_as("month", "May")
    'May'
    """
    translations = _current.get().texts().get(context + CONTEXT + text)
    return text if translations is None else translations[0]


def noted(text: str, /) -> str:
    """Mark a table's text for translation when it is shown."""
    return text


def noted_as(context: str, text: str, /) -> str:
    """Mark a text for translation by context (`say_as`) when it is shown."""
    return text


def translated_rows(table: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(value, *map(say, texts)) for value, *texts in table]


def gettext(text: str) -> str:
    translations = _current.get().texts().get(text)
    return text if translations is None else translations[0]


def ngettext(one: str, many: str, count: int) -> str:
    current = _current.get()
    translations, form = current.texts().get(one), current.form(count)
    return (one, many)[NATIVE.form(count)] if translations is None else translations[min(form, len(translations) - 1)]


def number(value: int) -> str:
    """Return a whole number with separators.

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
