"""A source over time: its values, versions and coverage, and `sanderling why`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from sanderling.client.lines import Cell, moment, undirected, where_of, why_lines
from sanderling.client.terminal import Listing, for_a_person, print_page
from sanderling.commands.keys import SOURCES, sent, with_client
from sanderling.environment import environ, wants_colour
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import json_flag
from storage.records.checks import Verdict
from storage.records.event import with_unit
from storage.records.identity import Millis, parse_rfc3339, rfc3339, seconds_of
from storage.records.secrecy import plain
from storage.records.source import LOOKS

if TYPE_CHECKING:
    from sanderling.client.api import Client

MOST_POINTS: Final = 8  # maximum points shown per series, the newest
MOST_CURRENT: Final = 30  # maximum current values shown
LEAST: Final = 4  # minimum letters from an end of a version's id that identify it
KEPT: Final = {"whole": "whole", "main_text": "main text", "part": "a part"}
_ORDER: Final = ("money", "availability", "percent", "version", "date", "number")
_COLOURS: Final = {"+": "32", "-": "31"}


@click.command()
@click.argument("name", metavar="SOURCE")
@click.option("--csv", "as_csv", is_flag=True, help="One value a line, for a spreadsheet.")
@click.option("--json", "as_json", is_flag=True, help="The service's own answer, with all values.")
@with_client
async def values(client: Client, *, name: str, as_csv: bool, as_json: bool) -> None:
    """Show the values on a source's page, now and over time."""
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other: choose one")
    path = f"{await SOURCES.path_of(client, name)}/values"
    if as_csv:
        click.echo((await client.ask("GET", path, params={"format": "csv"})).text, nl=False)
    else:
        print_page(await sent(client, "GET", path), value_lines, as_json=as_json)


def value_lines(answer: Mapping[str, Any], zone: tzinfo | None = None) -> Iterator[str]:
    """Yield current values, prices first, then each changed series with extremes and newest values."""
    # An older service sends no `current`.
    if ranked := sorted(answer.get("current", ()), key=lambda value: _ORDER.index(value["type"])):
        yield "The page's values now:"
    for value in ranked[:MOST_CURRENT]:
        place = plain(value["path"] or value["label"] or value["type"])
        yield f"  {shown_value(value, value)}  {place}, since {moment(value['since'], zone)}"
    if left := len(ranked[MOST_CURRENT:]) + answer.get("more", 0):
        yield f"  and {left:,} more"
    changed = [series for series in answer["series"] if len(series["points"]) > 1 or series["points"][-1].get("until")]
    if not changed:
        yield f"No price, number, state, version or date has changed since {moment(answer['since'], zone)}."
    for series in changed:
        yield plain(series["path"] or series["label"] or series["type"])
        names = ("earliest", "latest") if series["type"] == "date" else ("lowest", "highest")
        ends = zip(names, (series["lowest"], series["highest"]), strict=True)
        said = [f"{name} {shown_value(at, series)}, {moment(at['at'], zone)}" for name, at in ends if at is not None]
        if said:
            yield f"  {'; '.join(said)}"
        points = series["points"][::-1]
        for point in points[:MOST_POINTS]:
            gone = f", gone since {moment(point['until'], zone)}" if point.get("until") else ""
            yield f"  {moment(point['at'], zone)}  {shown_value(point, series)}{gone}"
        if len(points) > MOST_POINTS:
            yield f"  and {len(points) - MOST_POINTS:,} before"


def shown_value(point: Mapping[str, Any], series: Mapping[str, Any]) -> str:
    """Return a value with its unit; a state, and a price without a known currency, in the page's words."""
    text = point.get("text") if series["type"] in {"availability", "money"} and not series["unit"] else ""
    return plain(text or with_unit(point["value"], series["unit"]))


@click.command()
@click.argument("name", metavar="SOURCE")
@json_flag
@with_client
async def versions(client: Client, *, name: str, as_json: bool) -> None:
    """List the stored versions of a page, newest first."""
    found = (await sent(client, "GET", f"{await SOURCES.path_of(client, name)}/versions"))["versions"]
    VERSION_LIST.show(found, as_json=as_json)


VERSION_LIST = Listing[Mapping[str, Any]](
    ("version", "at", "kept", "what changed"),
    lambda version: (
        Cell(version["version"], short=shown(version["version"])),
        Cell(version["at"] or "-", short=when(version)),
        KEPT[version["kept"]],
        undirected(version["says"]),
    ),
    "No version is stored: it is not a page, or it was not checked yet.",
)


@click.command()
@click.argument("name", metavar="SOURCE")
@click.argument("earlier", metavar="[VERSION]", default="")
@click.argument("later", metavar="[VERSION]", default="")
@click.option("--text", "whole", is_flag=True, help="Show the whole text with the changes marked.")
@json_flag
@with_client
async def compare(client: Client, *, name: str, earlier: str, later: str, whole: bool, as_json: bool) -> None:
    """Compare two versions of a page: the newest two, one with the newest, or any two."""
    path = await SOURCES.path_of(client, name)
    query = {"show": "text" if whole else "changes"}
    if earlier or later:
        known = [version["version"] for version in (await sent(client, "GET", f"{path}/versions"))["versions"]]
        query |= {to: named(known, word) for to, word in (("from", earlier), ("to", later)) if word}
    found = await sent(client, "GET", f"{path}/compare", params=query)
    colour = for_a_person() and wants_colour(environ())
    print_page(found, lambda found: comparison_lines(found, colour=colour), as_json=as_json)


def named(known: list[str], word: str) -> str:
    """Return the version for a word; `now` is the newest. known: newest first. Raises CommandFailed.

    >>> named(["now", "019db0a4-6a10", "start"], "6a10"), named(["019db0a4-6a10", "start"], "now")
    ('019db0a4-6a10', '019db0a4-6a10')
    """
    if word == "now" and known:
        return known[0]
    found = [id for id in known if id == word] or [
        id for id in known if len(word) >= LEAST and (id.startswith(word) or id.endswith(word))
    ]
    if len(found) == 1:
        return found[0]
    says = "No version is" if not found else f"{len(found)} versions are"
    raise CommandFailed(f"{says} called {plain(word[:40])!r}; `sanderling sources versions` lists them.", Exit.USAGE)


def shown(version: str) -> str:
    """Shorten a version's id to its end.

    >>> shown("019db0a4-6a10-7000-8000-0000000000a7"), shown("start")
    ('000000a7', 'start')
    """
    return version[-8:]


def when(version: Mapping[str, Any], zone: tzinfo | None = None) -> str:
    return moment(version["at"], zone) if version["at"] else "-"


def comparison_lines(found: Mapping[str, Any], *, colour: bool = False, zone: tzinfo | None = None) -> Iterator[str]:
    earlier, later = found["from"], found["to"]
    yield f"{shown(earlier['version'])} ({when(earlier, zone)}) → {shown(later['version'])} ({when(later, zone)})"
    if found["partial"]:
        yield "(of the main text only: more is not kept of one of them)"
    for step in found["steps"]:
        where = where_of(step.get("context"))
        for sign, text in (("-", step.get("before")), ("+", step.get("after"))):
            if text is None or (sign == "-" and step["op"] == "keep"):
                continue
            mark = " " if step["op"] == "keep" else sign
            line = f"{mark} {plain(undirected(where + text))}"
            yield f"\x1b[{_COLOURS[mark]}m{line}\x1b[0m" if colour and mark in _COLOURS else line
    if not found["steps"]:
        yield "Nothing differs."
    if found["truncated"]:
        yield "… and more: --json has as much as the service gives"


@click.command()
@click.argument("name", metavar="SOURCE")
@click.option("--since", default="7d", show_default=True, help="The start: an age, for example 12h or 7d, or a time.")
@click.option("--until", help="The end, written as --since.  [default: now]")
@click.option("--json", "as_json", is_flag=True, help="The signed receipt, which `sanderling verify` checks.")
@with_client
async def coverage(client: Client, *, name: str, since: str, until: str | None, as_json: bool) -> None:
    """Show how often a source was checked, the longest time without a check, and the times without data."""
    from sanderling.real_world import now

    window = {"from": moment_of("--since", since, now())}
    if until is not None:
        window["to"] = moment_of("--until", until, now())
    receipt = (await client.ask("GET", f"{await SOURCES.path_of(client, name)}/coverage", params=window)).content
    click.echo(receipt.decode() if as_json else "\n".join(receipt_lines(msgspec.json.decode(receipt))))


def receipt_lines(receipt: Mapping[str, Any], zone: tzinfo | None = None) -> Iterator[str]:
    from actors.signatures import span_of
    from sanderling_client.receiver.receipt import WHYS

    yield plain(str(receipt.get("url") or receipt["source_id"]))
    yield f"  from {moment(receipt['from'], zone)} to {moment(receipt['to'], zone)}"
    yield f"  {plain(receipt['says'])}"
    counts = ((Verdict[name.upper()], count) for name, count in receipt["outcomes"].items() if count)
    if said := ", ".join(f"{count:,} {LOOKS[verdict].word}" for verdict, count in counts):
        yield f"  checks: {said}; changed bodies: {receipt['versions']:,}"
    if (gap := receipt["longest_gap"]) is not None:
        yield f"  longest gap: {span_of(gap['seconds'])}, from {moment(gap['from'], zone)} to {moment(gap['to'], zone)}"
    for span in receipt["unknown"]:
        why = WHYS.get(span["why"], plain(span["why"]))
        yield f"  unknown from {moment(span['from'], zone)} to {moment(span['to'], zone)}: {why}"


def moment_of(flag: str, text: str, now: Millis) -> str:
    """Return an RFC 3339 time from a time or an age such as 7d. Raises CommandFailed (USAGE)."""
    try:
        if text[-1:] in "smhd" and text[:-1].isdecimal():
            return rfc3339(Millis(max(0, now - 1000 * seconds_of(text))))
        return rfc3339(parse_rfc3339(text))
    except (ValueError, OverflowError):
        says = f"{flag} {text}: write an age, for example 7d or 12h, or a time, for example 2026-04-21T00:00:00Z."
        raise CommandFailed(says, Exit.USAGE) from None


@click.command()
@click.argument("source")
@click.argument("text", default="")
@click.option("--check", "--look", "check", is_flag=True, help="Check it now, too, if its rate limit allows.")
@click.option("--json", "as_json", is_flag=True, help="The service's own answer.")
@with_client
async def why(client: Client, *, source: str, text: str, check: bool, as_json: bool) -> None:
    """Explain why TEXT was not reported for a SOURCE, named by its id, a name, its URL or a part of these."""
    query = {"text": text, "look": "true" if check else "false"}
    answer = await sent(client, "GET", f"{await SOURCES.path_of(client, source)}/why", params=query)
    print_page(answer, lambda answer: why_lines(answer, asked=bool(text), looked=check), as_json=as_json)
