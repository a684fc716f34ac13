"""Generated Markdown pages: commands, API, settings. The settings also as text and JSON."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import click

from actors.settings import Meaning, Settings, masked, meaning
from sanderling.environment import BESIDE, FILE_NAME, Loaded, flag, variable

BASE_URL = "http://127.0.0.1:8080"
COMMANDS = """# Commands

Every command of `sanderling`, as its `--help` has it; the flags of `serve` are the [settings](settings.md). Data goes
to stdout, words to stderr. Exit codes: 0 done, 1 failed, 2 not understood, 64 a setting is wrong, 69 the service can't
be reached, 75 try again, 78 the data folder can't be used.
"""
API = """# API reference

Every operation of the HTTP API, from the same description that a running service gives as `/openapi.json` and as
pages at `/docs`. [The API by example](api.md) is the page to begin with.
"""
INTRODUCTION = f"""# Settings

Look up each setting. It has three names: the flag of `sanderling serve`, the environment variable, and the key in a
TOML file: `--config`, `SANDERLING_CONFIG`, or `{FILE_NAME}` in the data folder. A flag overrides a variable, a variable
the file, the file the default. Unknown names are errors. `sanderling settings` prints each value and its origin.

This page is generated: `sanderling settings --markdown > docs/settings.md`.
"""


def tree() -> Iterator[tuple[str, click.Command]]:
    """Yield each command with its full name, sorted, groups before their commands."""
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
    pieces = command.collect_usage_pieces(click.Context(command))
    return " ".join([name, *pieces])


def commands() -> str:
    parts = [COMMANDS]
    for name, command in tree():
        words, examples = words_of(command)
        if isinstance(command, click.Group):
            parts.append(f"## {name}\n\n{words}\n")
            continue
        parts.append(f"### {name}\n\n{words}\n")
        parts.append(f"```text\n{usage_of(name, command)}\n```\n")
        rows = "\n".join(f"| `{_cell(flag)}` | {_cell(says)} |" for flag, says in options_of(command))
        if rows:
            parts.append(f"| Option | |\n|---|---|\n{rows}\n")
        if examples:
            parts.append(f"```text\n{examples}\n```\n")
    return "\n".join(parts)


def api() -> str:
    from api.docs.routes import described
    from api.openapi.document import document
    from api.openapi.nouns import ROUTES

    description = document(described(ROUTES, BASE_URL), BASE_URL)
    parts = [API]
    for tag in description["tags"]:
        parts.append(f"## {tag['name']}\n\n{tag['description']}\n")
        for path, methods in description["paths"].items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    parts += _operation(f"{method.upper()} {path}", operation)
    return "\n".join(parts)


def _operation(label: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### `{label}`\n\n{operation['summary']}\n"
    if operation["description"].strip() != operation["summary"]:
        yield f"{operation['description'].strip()}\n"
    rows = [
        f"| `{each['name']}` | {each['in']} | {_cell(each['description'])} |"
        for each in operation.get("parameters", ())
    ]
    if rows:
        yield "\n".join(["| Parameter | In | |", "|---|---|---|", *rows]) + "\n"
    shape = _shape(operation.get("requestBody", {}))
    if shape:
        yield f"Body: {shape}.\n"
    shapes = ((status, _shape(given)) for status, given in operation["responses"].items())
    answers = [f"`{status}`" + (f" ({shape})" if shape else "") for status, shape in shapes]
    yield f"Answers: {', '.join(answers)}.\n"


def _shape(given: dict[str, Any]) -> str:
    """Return the type names of a body; "" without one."""
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
    """Return one line per setting: name, value, origin; then messages for retired settings."""
    rows = [(name, _shown(loaded, name), loaded.origins[name]) for name in loaded.origins]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    table = [f"{name:<{wide[0]}}  {value:<{wide[1]}}  {origin}" for name, value, origin in rows]
    return "\n".join([*table, *loaded.retired])


def beside(here: Settings, theirs: Settings) -> Iterator[str]:
    from sanderling.client.admin_socket import unlike

    others = [item.name for item in fields(Settings) if item.name in unlike(here, theirs)]
    yield "These are this shell's. The service that runs on the data folder has " + (
        "otherwise:" if others else "the same."
    )
    for name in others:
        value = getattr(theirs, name)
        yield f"  {name} = {','.join(value) if isinstance(value, tuple) else value}"


def as_json(loaded: Loaded) -> str:
    """Return a JSON object of settings, each with `value` and `from`; secrets are masked."""
    table = {name: {"value": masked(loaded.settings, name), "from": loaded.origins[name]} for name in loaded.origins}
    return json.dumps(table, indent=2)


def as_markdown() -> str:
    """Return the reference page, which depends on the table alone."""
    lines = [INTRODUCTION, "| Setting | Default | Bounds | Meaning |", "|---|---|---|---|"]
    for item in fields(Settings):
        says = meaning(item)
        names = f"`{item.name}` <br> `{flag(item.name)}` <br> `{variable(item.name)}`"
        lines.append(f"| {names} | {_default(item.default, says)} | {_bounds(says)} | {says.says} |")
    lines += ["", "Other environment variables:", "", "| Variable | Meaning |", "|---|---|"]
    lines += [f"| `{name}` | {says} |" for name, says in BESIDE.items()]
    return "\n".join(lines) + "\n"


def _shown(loaded: Loaded, name: str) -> str:
    value = masked(loaded.settings, name)
    if isinstance(value, tuple):
        value = ",".join(value)
    return str(value) if value != "" else "-"


def _default(value: Any, says: Meaning) -> str:
    if value in ("", ()):
        return "none"
    if isinstance(value, tuple):
        value = ",".join(value)
    return f"`{value}`" + (f" {says.unit}" if says.unit else "")


def _bounds(says: Meaning) -> str:
    if says.low is None or says.high is None:
        return ""
    return f"{_number(says.low)} to {_number(says.high)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
