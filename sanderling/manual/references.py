"""Generated Markdown pages: commands, API, settings. The settings also as text and JSON."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import click
from jinja2 import Environment

from actors.setting_table import declared, declared_as
from actors.settings import Settings
from sanderling.environment import BESIDE, FILE_NAME, Loaded, flag, variable

BASE_URL = "http://127.0.0.1:8080"


def tree() -> Iterator[tuple[str, click.Command]]:
    from sanderling.cli import main

    yield from _below("sanderling", main)


def _below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if command.hidden:
        return
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            if (below := command.get_command(context, word)) is not None:
                yield from _below(f"{name} {word}", below)


def words_of(command: click.Command) -> tuple[str, str]:
    r"""Return a command's explanation and its examples, which follow a \b in its help."""
    text = inspect.cleandoc(command.help or "")
    words, _, examples = text.partition("\b\n")
    return words.strip(), examples.rstrip()


def options_of(command: click.Command) -> list[tuple[str, str]]:
    """Return flags with their help, except `serve`'s settings, which have their own page."""
    from sanderling.cli import Tidy

    records = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument):  # the command's help explains it
            continue
        record = parameter.get_help_record(click.Context(command))
        if record is not None and not (isinstance(command, Tidy) and "[SANDERLING" in record[1]):
            records.append(record)
    return records


def usage_of(name: str, command: click.Command) -> str:
    return " ".join([name, *command.collect_usage_pieces(click.Context(command))])


def _page(name: str, **values: Any) -> str:
    made = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)  # noqa: S701  # no HTML
    made.filters |= {"cell": _cell, "number": lambda value: f"{value:.16g}"}
    text = files("sanderling.manual").joinpath(f"templates/{name}.md.jinja").read_text("utf-8")
    return made.from_string(text).render(values)


def commands() -> str:
    return _page(
        "commands",
        tree=tree,
        words_of=words_of,
        options_of=options_of,
        usage_of=usage_of,
        is_group=lambda command: isinstance(command, click.Group),
    )


def api() -> str:
    from api.openapi.document import document
    from api.openapi.nouns import ROUTES
    from api.openapi.routes import described

    return _page("api", **document(described(ROUTES, BASE_URL), BASE_URL), shape=_shape)


def _shape(given: dict[str, Any]) -> str:
    names = [name for content in given.get("content", {}).values() for name in _names(content.get("schema", {}))]
    return " or ".join(f"`{name}`" for name in dict.fromkeys(names))


def _names(schema: dict[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield str(schema["$ref"]).rpartition("/")[2]
    if "items" in schema:
        yield from (f"{name}[]" for name in _names(schema["items"]))
    for part in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from _names(part)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def as_text(loaded: Loaded) -> str:
    rows = [(name, _text(one.shown(loaded.settings)), loaded.origin(name)) for name, one in declared().items()]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    table = [f"{name:<{wide[0]}}  {value:<{wide[1]}}  {origin}" for name, value, origin in rows]
    return "\n".join([*table, *loaded.retired])


def beside(here: Settings, theirs: Settings) -> Iterator[str]:
    from sanderling.client.admin_socket import unlike

    others = unlike(here, theirs)
    yield "These are this shell's. The service that runs on the data folder has " + (
        "otherwise:" if others else "the same."
    )
    for name in others:
        value = declared_as(name).value(theirs)
        yield f"  {name} = {','.join(value) if isinstance(value, tuple) else value}"


def as_json(loaded: Loaded) -> str:
    table = {
        name: {"value": one.shown(loaded.settings), "from": loaded.origin(name)} for name, one in declared().items()
    }
    return json.dumps(table, indent=2)


def as_markdown() -> str:
    return _page(
        "settings", settings=declared().values(), file_name=FILE_NAME, beside=BESIDE, flag=flag, variable=variable
    )


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        value = ",".join(value)
    return str(value) if value != "" else "-"
