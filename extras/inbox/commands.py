"""`sanderling bins`: addresses of the service that keep the requests they receive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any

import click

from sanderling.client.lines import Cell, moment, within
from sanderling.client.terminal import Listing, notify, print_json, print_made, print_page
from sanderling.commands.keys import Sort, record_flag, records_flag, sent, with_client, yes_flag
from sanderling.exits import CommandFailed, Exit
from storage.records.secrecy import plain

if TYPE_CHECKING:
    from sanderling.client.api import Client

BINS = Sort("/v1/webhook-bins", "bin", "bins", ("url",), "bins")
EVERY = 2.0  # seconds between two polls for new captures
BODY_LINES = 40  # maximum body lines shown to a person
WORDS = {True: "ok", False: "BAD", None: "-"}
captures_flag = click.option(
    "--json", "as_json", is_flag=True, help="The captures, one a line, as `sanderling verify` reads them."
)


@click.group()
def bins() -> None:
    """Create, list, read, follow and delete test inboxes: addresses of the service that keep the requests they get."""


@bins.command("create")
@record_flag
@with_client
async def create(client: Client, *, as_json: bool) -> None:
    """Create a bin, and print its address. It accepts any method, and any path below it."""
    made = await sent(client, "POST", BINS.path)
    print_made(made, f"Created {made['id']}; it ends {moment(made['expires_at'])}.", made["url"], as_json=as_json)


@bins.command("list")
@records_flag
@with_client
async def listed(client: Client, *, as_json: bool) -> None:
    """List the bins, oldest first: id, end, address."""
    await BIN_LIST.show_each(client.every(BINS.path), as_json=as_json)


def _end(one: Mapping[str, Any]) -> Cell:
    from sanderling.real_world import wall

    return Cell(one["expires_at"], short=within(one["expires_at"], datetime.fromtimestamp(wall(), UTC)))


BIN_LIST = Listing[Mapping[str, Any]](
    ("id", "ends", "url"),
    lambda one: (one["id"], _end(one), one["url"]),
    "There is no bin yet: `sanderling bins create`.",
)


@bins.command("show")
@click.argument("name", metavar="BIN")
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="How many captures, newest first.")
@captures_flag
@with_client
async def show(client: Client, *, name: str, limit: int, as_json: bool) -> None:
    """Show a bin's captures, newest first: request, headers, body, and whether both signatures are valid."""
    left = limit
    async with aclosing(client.every(f"{await BINS.path_of(client, name)}/captures")) as captures:
        async for capture in captures:
            print_page(capture, capture_page, as_json=as_json)
            left -= 1
            if not left:
                return
    if left == limit:
        click.echo("It has received nothing yet.", err=True)


@bins.command("tail")
@click.argument("name", metavar="BIN")
@click.option("--count", type=click.IntRange(1), help="Stop after this many captures.")
@captures_flag
@with_client
async def tail(client: Client, *, name: str, count: int | None, as_json: bool) -> None:
    """Print new requests to a bin as they arrive, one a line, until Ctrl-C."""
    import trio

    from sanderling.client.api import LONGEST_WAIT

    path = f"{await BINS.path_of(client, name)}/captures"
    newest = next(iter((await client.ask("GET", path, params={"limit": 1})).json()), None)
    left, cut, wait = count, False, EVERY
    while left != 0:
        await trio.sleep(wait)
        try:
            came = await _since(client, path, newest)
        except CommandFailed as error:
            if error.code not in (Exit.TRY_AGAIN, Exit.UNREACHABLE):
                raise
            cut, wait = True, min(LONGEST_WAIT, wait * 2)
            notify(f"disconnected ({error.message.partition('. ')[0]}); trying again in {wait:.0f} s")
            continue
        if cut:
            notify("connected again")
            cut, wait = False, EVERY
        for capture in came:
            newest = capture
            if left != 0:
                print_json(capture) if as_json else click.echo(capture_line(capture))
                left = None if left is None else left - 1


async def _since(client: Client, path: str, known: Mapping[str, Any] | None) -> Sequence[dict[str, Any]]:
    """Return captures after a known one, oldest first. The known one may be gone: a bin keeps the last hundred."""
    found: list[dict[str, Any]] = []
    async with aclosing(client.every(path)) as captures:
        async for capture in captures:
            if known and (capture["id"] == known["id"] or capture["received_at"] < known["received_at"]):
                break
            found.append(capture)
    return found[::-1]


@bins.command("delete")
@click.argument("name", metavar="BIN")
@yes_flag
@with_client
async def delete(client: Client, *, name: str, sure: bool) -> None:
    """Delete a bin with its captures."""
    one = await BINS.removed(client, name, "Delete the bin {} with its captures?", sure=sure)
    click.echo(f"Deleted {one['id']}.", err=True)


def capture_line(capture: Mapping[str, Any], zone: tzinfo | None = None) -> str:
    clock = datetime.fromisoformat(capture["received_at"]).astimezone(zone)
    check = capture["signature_check"]
    verdicts = f"hmac {WORDS[check['hmac']['ok']]}, ed25519 {WORDS[check['ed25519']['ok']]}"
    request = plain(f"{capture['method']} {capture['path']}{'?' if capture['query'] else ''}{capture['query']}")
    return f"{clock:%H:%M:%S}  {request}  {capture['size']:,} bytes  {verdicts}  {capture['id']}"


def capture_page(capture: Mapping[str, Any], zone: tzinfo | None = None) -> Iterator[str]:
    yield capture_line(capture, zone)
    for layer in ("hmac", "ed25519"):
        yield f"  {layer:<8} {plain(capture['signature_check'][layer]['why'])}"
    for name, value in capture["headers"]:
        yield f"  {plain(name)}: {plain(value)}"
    yield ""
    yield from (f"  {line}" for line in _body(capture))
    yield ""


def _body(capture: Mapping[str, Any]) -> Iterator[str]:
    text = capture.get("body")
    if text is None:
        from base64 import b64decode

        yield f"({len(b64decode(capture['body_base64'])):,} bytes that are no text; --json has them)"
        return
    lines = text.splitlines()
    yield from (plain(line) for line in lines[:BODY_LINES])
    if len(lines) > BODY_LINES:
        yield f"({len(lines) - BODY_LINES} more lines; --json has them)"
    if capture["truncated"]:
        yield "(cut: more came than is kept)"
