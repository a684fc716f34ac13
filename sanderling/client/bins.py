"""`sanderling bins`: its requests, and captures as lines."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, tzinfo
from typing import Any

import click
import trio

from sanderling.client.api import LONGEST_WAIT, Client
from sanderling.client.listing import for_a_person, print_list, short_ids, within
from sanderling.client.naming import BINS, id_of, record_of
from sanderling.client.rendering import moment
from sanderling.client.speaking import agree, asked
from sanderling.environment import hinted
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json
from sanderling.real_world import wall
from storage.records.secrecy import plain

EVERY = 2.0
"""Seconds between two polls for new captures."""
BODY_LINES = 40
"""Maximum body lines shown to a person."""
WORDS = {True: "ok", False: "BAD", None: "-"}


def create(client: Client, *, as_json: bool) -> int:
    async def act() -> dict[str, Any]:
        return dict((await client.ask("POST", BINS.path)).json())

    made = asked(client, act)
    if as_json:
        print_json(made)
    else:
        click.echo(f"Made {made['id']}; it ends {moment(made['expires_at'])}.", err=True)
        click.echo(made["url"])
    return Exit.WELL


def list_bins(client: Client, *, as_json: bool) -> int:
    """Print all bins, oldest first."""

    async def act() -> None:
        found = [one async for one in client.every(BINS.path)]
        if not (found or as_json):
            click.echo(hinted("There is no bin yet: `sanderling bins create`."), err=True)
        elif as_json or not for_a_person():
            for one in found:
                line = f"{one['id']}  until {moment(one['expires_at'])}  {plain(one['url'])}"
                print_json(one) if as_json else click.echo(line)
        else:
            now, ids = datetime.fromtimestamp(wall(), UTC), short_ids([one["id"] for one in found])
            rows = [(ids[one["id"]], within(one["expires_at"], now), one["url"]) for one in found]
            print_list(("id", "ends", "url"), rows)

    asked(client, act)
    return Exit.WELL


def show(client: Client, name: str, *, limit: int, as_json: bool) -> int:
    """Print a bin's newest captures."""

    async def act() -> None:
        left = limit
        async with aclosing(client.every(f"{BINS.path}/{await id_of(client, BINS, name)}/captures")) as captures:
            async for capture in captures:
                if as_json:
                    print_json(capture)
                else:
                    click.echo("\n".join(capture_page(capture)))
                left -= 1
                if not left:
                    return
        if left == limit:
            click.echo("It was sent nothing yet.", err=True)

    asked(client, act)
    return Exit.WELL


def tail(client: Client, name: str, *, count: int | None, as_json: bool) -> int:
    """Print captures live, until interrupted or after `count`. After a first success, wait out disconnects."""

    async def act() -> None:
        path = f"{BINS.path}/{await id_of(client, BINS, name)}/captures"
        newest = await _newest(client, path)
        left, cut, wait = count, False, EVERY
        while left != 0:
            await trio.sleep(wait)
            try:
                came = await _since(client, path, newest)
            except CommandFailed as error:
                if error.code not in (Exit.TRY_AGAIN, Exit.UNREACHABLE):
                    raise
                cut, wait = True, min(LONGEST_WAIT, wait * 2)
                _tell(f"cut off ({error.message.partition('. ')[0]}); trying again in {wait:.0f} s")
                continue
            if cut:
                _tell("connected again")
                cut, wait = False, EVERY
            for capture in came:
                newest = capture
                if left != 0:
                    print_json(capture) if as_json else click.echo(capture_line(capture))
                    left = None if left is None else left - 1

    asked(client, act)
    return Exit.WELL


def _tell(words: str) -> None:
    click.echo(f"sanderling: {words}", err=True)


async def _newest(client: Client, path: str) -> dict[str, Any] | None:
    return next(iter((await client.ask("GET", path, params={"limit": 1})).json()), None)


async def _since(client: Client, path: str, known: Mapping[str, Any] | None) -> Sequence[dict[str, Any]]:
    """Return captures after a known one, oldest first. The known one may be gone: a bin keeps the last hundred."""
    found: list[dict[str, Any]] = []
    async with aclosing(client.every(path)) as captures:
        async for capture in captures:
            if known and (capture["id"] == known["id"] or capture["received_at"] < known["received_at"]):
                break
            found.append(capture)
    return found[::-1]


def delete(client: Client, name: str, *, sure: bool) -> int:
    """Delete a bin after confirmation."""

    async def act() -> None:
        one = await record_of(client, BINS, name)
        agree(f"Delete the bin {plain(one['url'])} with what it was sent?", sure=sure)
        await client.ask("DELETE", f"{BINS.path}/{one['id']}")
        click.echo(f"Deleted {one['id']}.", err=True)

    asked(client, act)
    return Exit.WELL


def capture_line(capture: Mapping[str, Any], zone: tzinfo | None = None) -> str:
    """Return a capture as one line: time, request, size, both signature verdicts."""
    clock = datetime.fromisoformat(capture["received_at"]).astimezone(zone)
    check = capture["signature_check"]
    verdicts = f"hmac {WORDS[check['hmac']['ok']]}, ed25519 {WORDS[check['ed25519']['ok']]}"
    request = plain(f"{capture['method']} {capture['path']}{'?' if capture['query'] else ''}{capture['query']}")
    return f"{clock:%H:%M:%S}  {request}  {capture['size']:,} bytes  {verdicts}  {capture['id']}"


def capture_page(capture: Mapping[str, Any], zone: tzinfo | None = None) -> Iterator[str]:
    """Yield a capture as lines: request, reasons of both verdicts, headers, body."""
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
        yield f"({len(b64decode(capture['body_base64'])):,} bytes that are no text; --json has them)"
        return
    lines = text.splitlines()
    yield from (plain(line) for line in lines[:BODY_LINES])
    if len(lines) > BODY_LINES:
        yield f"({len(lines) - BODY_LINES} more lines; --json has them)"
    if capture["truncated"]:
        yield "(cut: more came than is kept)"
