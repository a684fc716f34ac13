"""`sanderling kinds` and `templates`: list and show them, and check your own files of either."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from actors.errors import did_you_mean
from actors.settings import Settings
from sanderling.client.lines import MATCHED, Cell
from sanderling.client.terminal import Listing, notify, print_json, print_page
from sanderling.environment import typed
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import json_flag, with_settings
from sanderling.notifications import messengers_of, templates_of
from storage.records.secrecy import plain

if TYPE_CHECKING:
    from actors.catalogue import Catalogue, Entry
    from actors.destination_kinds.kind import DestinationKind
    from actors.destination_kinds.messengers.messenger import Messenger
    from actors.templates.template import Parameter, Template


@click.group()
def kinds() -> None:
    """List, show and check kinds of destinations: chats, phones, on-call services, programs."""


@kinds.command("list")
@json_flag
@with_settings("kinds")
def list_kinds(settings: Settings, *, as_json: bool) -> None:
    """List the kinds of destinations: built-in ones, and those in your own folder."""
    found, known = _kinds(settings)
    KIND_LIST.show(list(known.values()), as_json=as_json)
    _report_flaws(found)


def _kinds(settings: Settings) -> tuple[Catalogue[Messenger], dict[str, DestinationKind]]:
    from actors.destination_kinds.table import NO_MAIL, kinds_of

    found = messengers_of(settings.kinds)
    return found, dict(kinds_of(found, NO_MAIL))


def _report_flaws(found: Catalogue[Any]) -> None:
    for flaw in found.flaws:
        notify(str(flaw))


def kind_record(kind: DestinationKind) -> dict[str, Any]:
    names = ("name", "label", "help", "example", "default", "required", "private")
    shown = {name: getattr(kind, name) for name in ("id", "label", "family", "where")}
    fields = [{name: getattr(field, name) for name in names} for field in kind.fields]
    return shown | {"address": kind.address.label, "fields": fields}


KIND_LIST = Listing[Any](
    ("kind", "for", "name", "asks for"),
    lambda kind: (kind.id, kind.family, plain(kind.label), ", ".join(field.name for field in kind.fields) or "-"),
    record=kind_record,
)


@kinds.command("show")
@click.argument("name", metavar="KIND")
@json_flag
@with_settings("kinds")
def show_kind(settings: Settings, *, name: str, as_json: bool) -> None:
    """Show one kind: where to get its values, and the command that creates such a destination."""
    if (kind := (known := _kinds(settings)[1]).get(name)) is None:
        near = did_you_mean(name, known) or " `sanderling kinds list` lists them."
        raise CommandFailed(f"{name}: there is no such kind.{near}", Exit.USAGE)
    print_page(kind, kind_page, as_json=as_json, record=kind_record)


def kind_page(kind: DestinationKind) -> Iterator[str]:
    yield f"{kind.id}: {plain(kind.label)}"
    yield plain(kind.where)
    address = kind.address
    yield f"\nAddress: {plain(address.label)}"
    if address.default:
        yield f"  need not be given: {plain(address.default)}"
    elif address.example:
        yield f"  such as {plain(address.example)}"
    if address.private:
        yield "  It is sealed; only its host is shown."
    for field in kind.fields:
        need = f", else {field.default}" if field.default else "" if field.required else ", optional"
        yield f"\n--option {field.name}: {plain(field.label)}{need}{', sealed' if field.private else ''}"
        if field.help:
            yield f"  {plain(field.help)}"
        if field.example:
            yield f"  such as {plain(field.example)}"
    wanted = [f"--option {field.name}=..." for field in kind.fields if field.required and not field.default]
    target = [] if address.default else ["URL"]
    yield "\n" + " ".join([typed("alerts deliver ALERT"), *target, f"--kind {kind.id}", *wanted])


@kinds.command("check")
@click.argument("folder", type=click.Path(path_type=Path))
@json_flag
def check_kinds(folder: Path, *, as_json: bool) -> int:
    """Check the *.toml files of a FOLDER as the service reads them. The exit code is 1 if any is invalid."""
    return _check(messengers_of(str(folder)), folder, lambda kind: f" ({kind.label})", as_json=as_json)


def _check(found: Catalogue[Any], folder: Path, words: Callable[[Any], str], *, as_json: bool) -> int:
    from actors.catalogue import BUILT_IN

    mine = [entry for entry in found.entries() if entry.origin != BUILT_IN]
    for entry in mine:
        if as_json:
            print_json({"file": entry.origin, "id": entry.record.id, "well": True})
        else:
            click.echo(f"{entry.origin}: {entry.record.id}{words(entry.record)} is well")
    for flaw in found.flaws:
        if as_json:
            print_json({"file": flaw.file, "line": flaw.line, "well": False, "says": flaw.says})
        else:
            click.echo(str(flaw))
    if not (mine or found.flaws or as_json):
        click.echo(f"There is no *.toml file in {folder}.", err=True)
    return Exit.FAILED if found.flaws else Exit.WELL


@click.group()
def templates() -> None:
    """List, show and check templates: groups of sources with suggested alerts, added in one call."""


@templates.command("list")
@json_flag
@with_settings("templates")
def list_templates(settings: Settings, *, as_json: bool) -> None:
    """List the built-in templates, and those in your own folder."""
    found = templates_of(settings.templates)
    TEMPLATE_LIST.show(found.entries(), as_json=as_json)
    _report_flaws(found)


def template_record(entry: Entry[Template]) -> dict[str, Any]:
    from msgspec import to_builtins

    return {**to_builtins(entry.record), "origin": entry.origin}


TEMPLATE_LIST = Listing[Any](
    ("template", "version", "takes", "name", "from"),
    lambda entry: (
        entry.record.id,
        Cell(str(entry.record.version), right=True),
        ", ".join(parameter.key for parameter in entry.record.parameters) or "-",
        entry.record.name,
        entry.origin,
    ),
    record=template_record,
)


@templates.command("show")
@click.argument("name", metavar="ID")
@json_flag
@with_settings("templates")
def show_template(settings: Settings, *, name: str, as_json: bool) -> None:
    """Show one template: its parameters, its sources, the alerts it suggests."""
    found = templates_of(settings.templates)
    if (entry := next((entry for entry in found.entries() if entry.record.id == name), None)) is None:
        raise CommandFailed(f"{name}: there is no such template; `sanderling templates list` lists them.", Exit.USAGE)
    print_page(entry, template_page, as_json=as_json, record=template_record)


def template_page(entry: Entry[Template]) -> Iterator[str]:
    template = entry.record
    yield f"{template.id}, version {template.version} ({plain(entry.origin)})"
    yield f"{plain(template.name)}. {plain(template.summary)}"
    if template.parameters:
        yield "\nTakes"
    for parameter in template.parameters:
        yield f"  {parameter.key}: {_count(parameter)}, such as {plain(parameter.example)}"
        yield f"    {plain(parameter.description)}"
    yield "\nAttaches"
    for pattern in template.sources:
        yield f"  {pattern.type:<4}  {plain(pattern.url)}"
    if template.alerts:
        yield "\nSuggests"
    for suggestion in template.alerts:
        yield f"  {plain(suggestion.name)} ({suggestion.language}): {plain(suggestion.query) or 'everything'}"
        yield f"    of pages: {MATCHED[suggestion.match]}"


def _count(parameter: Parameter) -> str:
    """Return how many values a parameter takes.

    >>> from types import SimpleNamespace
    >>> _count(SimpleNamespace(type="domain", min=1, max=10))
    '1 to 10 domains'
    """
    if parameter.min == parameter.max == 1:
        return f"one {parameter.type}"
    return f"{parameter.min} to {parameter.max} {parameter.type}s"


@templates.command("check")
@click.argument("folder", type=click.Path(path_type=Path))
@json_flag
def check_templates(folder: Path, *, as_json: bool) -> int:
    """Check the *.toml files of a FOLDER as the service reads them. The exit code is 1 if any is invalid."""
    return _check(templates_of(str(folder)), folder, lambda template: f", version {template.version},", as_json=as_json)
