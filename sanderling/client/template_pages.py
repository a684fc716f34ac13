"""Templates in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import to_builtins

from actors.catalogue.catalogue import Entry
from actors.catalogue.reading import Flaw
from actors.templates.template import Parameter, Template
from sanderling.client.alerts import ABOUT
from sanderling.client.listing import Cell
from sanderling.json_lines import print_json
from storage.records.secrecy import plain


def as_line(entry: Entry[Template]) -> str:
    """Return a template as one line: id, version, parameters, name, origin."""
    template = entry.record
    takes = ", ".join(parameter.key for parameter in template.parameters) or "-"
    return f"{template.id:<24}  v{template.version:<3}  {takes:<12}  {plain(template.name)}  ({plain(entry.origin)})"


TEMPLATE_HEADS: Final = ("template", "version", "takes", "name", "from")


def as_row(entry: Entry[Template]) -> Sequence[Cell | str]:
    template = entry.record
    takes = ", ".join(parameter.key for parameter in template.parameters) or "-"
    return (template.id, Cell(str(template.version), right=True), takes, template.name, entry.origin)


def as_record(entry: Entry[Template]) -> dict[str, Any]:
    """Return a template for JSON, with its origin."""
    return {**to_builtins(entry.record), "origin": entry.origin}


def print_check(well: Iterable[tuple[str, str]], flaws: Iterable[Flaw]) -> None:
    """Print a folder check as JSON lines: valid files with their ids, then flaws."""
    for file, id in well:
        print_json({"file": file, "id": id, "well": True})
    for flaw in flaws:
        print_json({"file": flaw.file, "line": flaw.line, "well": False, "says": flaw.says})


def as_page(entry: Entry[Template]) -> str:
    """Return a template as a page: parameters, sources, suggested alerts."""
    return "\n".join(_lines(entry))


def _lines(entry: Entry[Template]) -> Iterator[str]:
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
        yield f"    of pages: {ABOUT[suggestion.match]}"


def _count(parameter: Parameter) -> str:
    """Return how many values a parameter takes.

    >>> _count(Parameter("domain", "domain", "A domain", "example.com", 1, 10))
    '1 to 10 domains'
    """
    if parameter.min == parameter.max == 1:
        return f"one {parameter.type}"
    return f"{parameter.min} to {parameter.max} {parameter.type}s"
