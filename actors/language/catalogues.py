"""Catalogues: a language's translation of each English text, read from gettext `.po` files. Pure.

The files are read directly, so there is nothing to compile or package. Missing and `fuzzy` texts stay English.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from gettext import c2py
from importlib.resources import files
from typing import Final, NamedTuple

ENGLISH: Final = "en"
CONTEXT: Final = "\x04"
"""Separates a text's context from the text, as in gettext's own files."""
_KEYWORDS = ("msgctxt", "msgid_plural", "msgid", "msgstr")


class Entry(NamedTuple):
    """A text, its plural ("" without), and their translations."""

    text: str
    many: str
    said: tuple[str, ...]
    fuzzy: bool = False


class Catalogue(NamedTuple):
    """A language. code: as in `<html lang>`. name: in the language itself. form: the plural form for a count."""

    code: str
    name: str
    texts: Mapping[str, tuple[str, ...]]
    form: Callable[[int], int]


NATIVE: Final = Catalogue(ENGLISH, "English", {}, lambda count: int(count != 1))


@cache
def languages() -> dict[str, Catalogue]:
    """Return the languages by code, English first."""
    found = {ENGLISH: NATIVE}
    for file in sorted(files("actors.language").iterdir(), key=lambda each: each.name):
        if file.name.endswith(".po"):
            read = catalogue_of(file.name.removesuffix(".po"), file.read_text("utf-8"))
            found[read.code] = read
    return found


def catalogue_of(code: str, text: str) -> Catalogue:
    entries = list(entries_of(text))
    head = next((one.said[0] for one in entries if not one.text), "")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    rule = fields.get("Plural-Forms", "nplurals=2; plural=n != 1;")
    texts = {one.text: one.said for one in entries if one.text and not one.fuzzy and all(one.said)}
    form = c2py(rule.partition("plural=")[2].rstrip("; "))
    return Catalogue(code, fields.get("X-Name", code), texts, form)


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
            before = f"{parts['msgctxt']}{CONTEXT}" if "msgctxt" in parts else ""
            said = tuple(words for name, words in sorted(parts.items()) if name.startswith("msgstr"))
            yield Entry(before + parts["msgid"], parts.get("msgid_plural", ""), said, fuzzy)
