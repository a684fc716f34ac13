"""Generated Markdown pages: commands and API."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import click
from jinja2 import Environment

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
    words, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
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
    made.filters["cell"] = _cell
    text = files("extras.manual").joinpath(f"templates/{name}.md.jinja").read_text("utf-8")
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
    from api.openapi.document import ROUTES, described, document

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
