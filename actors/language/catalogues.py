"""Catalogues: a language's translation of each English text, read from gettext `.po` files. Pure.

The files are read directly, so there is nothing to compile or package. Missing and `fuzzy` texts stay English.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from gettext import c2py
from importlib.resources import files
from typing import Final, NamedTuple

ENGLISH: Final = "en"
CONTEXT: Final = "\x04"  # separates a text's context from the text, as in gettext's own files
_KEYWORDS = ("msgctxt", "msgid_plural", "msgid", "msgstr")


class Entry(NamedTuple):
    """A text, its plural ("" without), and their translations."""

    text: str
    many: str
    translations: tuple[str, ...]
    fuzzy: bool = False


class Catalogue(NamedTuple):
    """A language. code: as in `<html lang>`. name: in itself. texts: read when called (a megabyte). form: by count."""

    code: str
    name: str
    texts: Callable[[], Mapping[str, tuple[str, ...]]]
    form: Callable[[int], int]


NATIVE: Final = Catalogue(ENGLISH, "English", dict, lambda count: int(count != 1))


@cache
def languages() -> dict[str, Catalogue]:
    """Return the languages by code, English first."""
    catalogues = {ENGLISH: NATIVE}
    for file in sorted(files("actors.language").iterdir(), key=lambda each: each.name):
        if file.name.endswith(".po"):
            code = file.name.removesuffix(".po")
            catalogues[code] = catalogue_of(code, partial(file.read_text, "utf-8"))
    return catalogues


def catalogue_of(code: str, read: Callable[[], str]) -> Catalogue:
    header = next((entry.translations[0] for entry in entries_of(read().partition("\n\n")[0]) if not entry.text), "")
    fields = dict(line.split(": ", 1) for line in header.splitlines() if ": " in line)
    plural_rule = fields.get("Plural-Forms", "nplurals=2; plural=n != 1;")
    form = c2py(plural_rule.partition("plural=")[2].rstrip("; "))
    return Catalogue(code, fields.get("X-Name", code), cache(partial(_texts_of, read)), form)


def _texts_of(read: Callable[[], str]) -> Mapping[str, tuple[str, ...]]:
    entries = (entry for entry in entries_of(read()) if entry.text and not entry.fuzzy and all(entry.translations))
    return {entry.text: entry.translations for entry in entries}


def entries_of(text: str) -> Iterator[Entry]:
    """Yield the entries of a file in order. The one without text is its head."""
    for block in text.split("\n\n"):
        parts: dict[str, str] = {}
        fuzzy, part = False, ""
        for line in block.splitlines():
            if line.startswith("#"):
                fuzzy |= line.startswith("#,") and "fuzzy" in line
                continue
            keyword, _, quoted = line.partition(" ")
            if keyword.partition("[")[0] in _KEYWORDS:
                part = keyword
            else:
                quoted = line
            parts[part] = parts.get(part, "") + json.loads(quoted, strict=False)
        if "msgid" in parts:
            context = f"{parts['msgctxt']}{CONTEXT}" if "msgctxt" in parts else ""
            translations = tuple(words for name, words in sorted(parts.items()) if name.startswith("msgstr"))
            yield Entry(context + parts["msgid"], parts.get("msgid_plural", ""), translations, fuzzy)
