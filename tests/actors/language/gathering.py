"""Gathers all texts of pages from code, templates, scripts and tables, and updates the catalogues with them.

Run `python -m tests.actors.language.gathering` or `make languages`. A new text enters each catalogue without a
translation; a removed text leaves it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, get_args

import msgspec
from jinja2.ext import extract_from_ast

from actors.delivery.actor import CONTENT
from actors.destination_kinds.contract import MESSAGE_FIELDS
from actors.destination_kinds.email import MailTexts
from actors.destination_kinds.table import built_in_kinds
from actors.language.catalogues import CONTEXT, entries_of
from actors.language.sentences import patterns
from actors.notification.message_language import MessageTexts
from actors.notification.message_template import OF_EVENTS, OF_MESSAGES
from actors.query.words import languages as query_languages
from actors.setting_table import declared
from actors.templates.template import built_in as built_in_templates
from api.app import SCREENS
from api.dashboard.rendering import environment, said_by_scripts
from api.keys import SCOPES
from api.problems import KINDS, RULES
from sanderling_client.receiver.receipt import WHYS
from storage.records import source
from storage.records.event import ChangeKind
from storage.records.tiers import TIERS
from tests.rules.source_files import ROOMS, tree_of

ROOT: Final = Path(__file__).parents[3]
HOME: Final = ROOT / "actors/language"
_SAYS: Final = frozenset({"say", "noted"})
_SAYS_MANY: Final = "say_many"
_SAYS_AS: Final = frozenset({"say_as", "noted_as"})
_IN_TEMPLATES: Final = ("say", "say_many", "say_as", "gettext", "ngettext")


class Said(NamedTuple):
    """A text, its plural, and the context that separates two meanings of one English word; "" for none."""

    text: str
    many: str = ""
    context: str = ""

    @property
    def key(self) -> str:
        return f"{self.context}{CONTEXT}{self.text}" if self.context else self.text


@cache
def gathered() -> Mapping[str, Said]:
    """Return all texts by key. If a text occurs with and without a plural, keep the plural."""
    found: dict[str, Said] = {}
    for said in (*_of_code(), *_of_templates(), *_of_scripts(), *map(Said, _of_tables()), *map(Said, messages())):
        if said.text and (said.key not in found or said.many):
            found[said.key] = said
    return found


def _of_code() -> Iterator[Said]:
    rooms = (ROOT / "api/dashboard", ROOT / "extras")
    for file in sorted([*HOME.glob("*.py"), *(file for room in rooms for file in room.rglob("*.py"))]):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield from _said(node.func.id, texts)


def _said(function: str, texts: list[str]) -> Iterator[Said]:
    if function in _SAYS and texts:
        yield Said(texts[0])
    elif function == _SAYS_MANY and len(texts) > 1:
        yield Said(texts[0], texts[1])
    elif function in _SAYS_AS and len(texts) > 1:
        yield Said(texts[1], context=texts[0])


def _of_templates() -> Iterator[Said]:
    for name in environment().list_templates():
        assert environment().loader is not None
        tree = environment().parse(environment().loader.get_source(environment(), name)[0])
        for _, function, message in extract_from_ast(tree, _IN_TEMPLATES, babel_style=False):
            texts = [one for one in (message if isinstance(message, tuple) else (message,)) if isinstance(one, str)]
            yield from _said({"gettext": "say", "ngettext": _SAYS_MANY}.get(function, function), texts)


def _of_scripts() -> Iterator[Said]:
    yield from map(Said, said_by_scripts())


@cache
def messages() -> Mapping[str, frozenset[str]]:
    """Return the templates of all messages (`storage.records.message`), each with the names of its values."""
    found: dict[str, frozenset[str]] = {}
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            found |= {one.template: one.names for one in messages_in(tree_of(file)) if one.template is not None}
    return found


class Worded(NamedTuple):
    """A call of `message`. template: None if it is not a literal, nor a name that was given one just before."""

    line: int
    template: str | None
    names: frozenset[str]


def messages_in(tree: ast.AST) -> Iterator[Worded]:
    """Yield the calls of `message` in a module."""
    nodes = list(ast.walk(tree))
    given = {
        (node.lineno, target.id): node.value.value
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "message":
            template = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if isinstance(node.args[0], ast.Name):
                before = [at for at in given if at[0] < node.lineno and at[1] == node.args[0].id]
                template = given[max(before)] if before else None
            yield Worded(node.lineno, template, frozenset(word.arg or "**" for word in node.keywords))


def _of_tables() -> Iterator[str]:
    """Yield the texts that pages take from tables of other rooms."""
    tables = [table for name, table in vars(source).items() if name.isupper() and isinstance(table, dict)]
    for row in (row for table in tables for row in table.values() if isinstance(row, source.State)):
        yield from (row.word, row.says)
    for tier in TIERS.values():
        yield from (tier.noun, tier.plural)
    yield from get_args(ChangeKind)
    yield from patterns()
    yield from (one.says.replace("`", "") for one in declared().values())
    yield from _of_fields()
    yield from RULES.values()
    yield from WHYS.values()
    yield from MessageTexts()[:-1]
    yield from MailTexts()
    yield from ("Test delivery", CONTENT)
    yield from SCOPES.values()
    yield from query_languages().values()
    yield from (kind.title for kind in KINDS.values())
    yield from (says.replace("`", "") for says in (OF_EVENTS | OF_MESSAGES).values())
    for template in built_in_templates():
        yield from (template.name, template.summary, template.category.replace("-", " "))
        yield from (one.name for one in template.alerts)
        for parameter in template.parameters:
            yield from (parameter.description, parameter.key.capitalize())
    for one in built_in_kinds().values():
        yield from (one.label, one.where, one.address.label, one.address.help)
        for field in (*one.fields, *MESSAGE_FIELDS):
            yield from (field.label, field.help)


def _of_fields() -> Iterator[str]:
    """Yield the names of form fields as `ui.faults` prints them."""
    for screen in SCREENS:
        for field in msgspec.structs.fields(screen.form) if screen.form is not None else ():
            yield field.encode_name.replace("_", " ").capitalize()


def updated(text: str) -> str:
    """Return a catalogue with the current texts, its old translations and its old head."""
    head = text.split("\n\n", 1)[0]
    had = {entry.text: entry.translations for entry in entries_of(text) if entry.text and not entry.fuzzy}
    forms = int(re.search(r"nplurals=(\d+)", head)[1])  # type: ignore[index]
    return "\n\n".join([head, *(written(said, had.get(said.key, ()), forms) for said in gathered().values())]) + "\n"


def written(said: Said, words: tuple[str, ...], forms: int) -> str:
    """Return a text as an entry of a catalogue."""
    lines = ["#, python-format"] if "%(" in said.text else []
    lines += [f"msgctxt {_quoted(said.context)}"] if said.context else []
    lines.append(f"msgid {_quoted(said.text)}")
    if not said.many:
        return "\n".join([*lines, f"msgstr {_quoted(words[0] if words else '')}"])
    padded = (*words, *[""] * forms)[:forms]
    lines.append(f"msgid_plural {_quoted(said.many)}")
    return "\n".join([*lines, *(f"msgstr[{form}] {_quoted(word)}" for form, word in enumerate(padded))])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def lacking(text: str) -> list[str]:
    """Return the texts without a translation, or with only a guess."""
    return [entry.text for entry in entries_of(text) if entry.text and (entry.fuzzy or not all(entry.translations))]


def main() -> None:
    for file in sorted(HOME.glob("*.po")):
        made = updated(file.read_text("utf-8"))
        file.write_text(made, "utf-8")
        print(f"{file.name}: {len(gathered())} texts, {len(lacking(made))} of them without words")


if __name__ == "__main__":
    main()
