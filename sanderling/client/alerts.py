"""`sanderling alerts`: its requests and output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import click

from sanderling.client.api import Client
from sanderling.client.listing import Cell, ago, for_a_person, print_list, short_ids
from sanderling.client.naming import ALERTS, SOURCES, id_of, record_of
from sanderling.client.rendering import fit, moment
from sanderling.client.speaking import agree, asked
from sanderling.environment import hinted
from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json
from sanderling.real_world import wall
from storage.records.secrecy import plain
from storage.records.states import ALERTS as ALERT_STATES
from storage.records.states import DESTINATIONS

WIDTH = 120
ABOUT = {
    "change": "what came and what went",
    "added": "what came",
    "removed": "what went",
    "page": "the whole page, also what did not change",
}


def list_alerts(client: Client, *, as_json: bool) -> int:
    """Print all alerts, oldest first."""

    async def act() -> None:
        found = [alert async for alert in client.every(ALERTS.path)]
        if not (found or as_json):
            click.echo(hinted("There is no alert yet: `sanderling alerts create QUERY`."), err=True)
        elif as_json or not for_a_person():
            for alert in found:
                print_json(alert) if as_json else click.echo(alert_line(alert))
        else:
            print_list(ALERT_HEADS, alert_rows(found, datetime.fromtimestamp(wall(), UTC)))

    asked(client, act)
    return Exit.WELL


ALERT_HEADS = ("state", "matches", "last", "id", "name", "query")


def alert_rows(found: Sequence[Mapping[str, Any]], now: datetime) -> list[Sequence[Cell | str]]:
    ids = short_ids([alert["id"] for alert in found])
    rows: list[Sequence[Cell | str]] = []
    for alert in found:
        state = ALERT_STATES["active" if alert["enabled"] else "paused"]
        query = "" if alert["name"] == alert["filter_query"] else alert["filter_query"] or "everything"
        count = Cell(f"{alert['match_count']:,}", right=True)
        last = ago(alert["last_match_at"], now)
        rows.append((Cell(state.word, state.mood), count, last, ids[alert["id"]], alert["name"], query))
    return rows


def alert_line(alert: Mapping[str, Any]) -> str:
    """Return an alert as one line: state, match count, id, name, and the query if it differs from the name."""
    query = "" if alert["name"] == alert["filter_query"] else f"  {fit(alert['filter_query'], WIDTH)}"
    return f"{_state(alert):<6}  {alert['match_count']:>7,}  {alert['id']}  {plain(alert['name'])}{query}"


def _state(record: Mapping[str, Any]) -> str:
    return ALERT_STATES["active" if record["enabled"] else "paused"].word


def show_alert(client: Client, name: str, *, as_json: bool) -> int:
    async def act() -> tuple[dict[str, Any], list[dict[str, Any]]]:
        alert = await record_of(client, ALERTS, name)
        return alert, [one async for one in client.every(f"{ALERTS.path}/{alert['id']}/destinations")]

    alert, destinations = asked(client, act)
    if as_json:
        print_json(alert | {"destinations": destinations})
    else:
        for line in alert_page(alert, destinations):
            click.echo(line)
    return Exit.WELL


def alert_page(alert: Mapping[str, Any], destinations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield an alert as lines: query, sources, matches, destinations."""
    yield from _asks(alert)
    last = f", the last one {moment(alert['last_match_at'])}" if alert["last_match_at"] else ""
    yield f"  met       {alert['match_count']:,} events{last}"
    for one in destinations:
        state = DESTINATIONS[one["state"] if one["enabled"] else "paused"].word
        yield f"  sends to  {one['id']}  {state:<8}  {one['delivery_mode']:<7}  {plain(one['url'])}"
    if not destinations:
        yield hinted("  sends to  nobody; `sanderling alerts deliver` names a URL")


def _asks(alert: Mapping[str, Any]) -> Iterator[str]:
    yield f"{plain(alert['name'])} ({_state(alert)})  {alert['id']}"
    yield f"  query     {plain(alert['filter_query']) or 'everything'}  ({alert['language']})"
    yield f"  of pages  {ABOUT.get(alert['match'], alert['match'])}"
    count, tags = len(alert["source_ids"]), ", ".join(map(plain, alert["tags"]))
    yield f"  sources   {count or ('those with a tag' if tags else 'all')}"
    if tags:
        yield f"  tags      {tags}"
    if alert["private_source_ids"]:
        yield f"  private   {plain(', '.join(alert['private_source_ids']))}: over these, too"
    if alert["channel"]:
        yield f"  channel   {alert['channel']}"
    once = alert["once_per_story"]
    if count != 1 or tags if once is None else once:
        yield "  stories   each once"
    yield f"  notices   {', '.join(alert['notices']) or 'none'}"


async def _sources(client: Client, names: Sequence[str]) -> list[str]:
    return [await id_of(client, SOURCES, name) for name in names]


def preview(
    client: Client,
    query: str,
    *,
    language: str,
    match: str,
    sources: Sequence[str],
    tags: Sequence[str],
    last: int | None,
    limit: int,
    as_json: bool,
) -> int:
    """Print the events that an alert would have matched."""

    async def act() -> dict[str, Any]:
        body = {"filter_query": query, "language": language, "match": match, "limit": limit}
        body |= {"source_ids": await _sources(client, sources)} | ({"tags": list(tags)} if tags else {})
        body |= {"last": last} if last else {}
        return dict((await client.ask("POST", f"{ALERTS.path}/preview", json=body)).json())

    found = asked(client, act)
    if as_json:
        print_json(found)
    else:
        for line in preview_page(found):
            click.echo(line)
    return Exit.WELL


def preview_page(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a preview as lines: the parsed query, warnings, counts, terms, events."""
    yield f"{plain(found['query']) or 'everything'}  ({found['language']})"
    for warning in found["warnings"]:
        yield f"  ! {plain(warning)}"
    since = f" since {moment(found['looked_from'])}" if found["looked_from"] else ""
    yield f"  {found['matches_found']:,} of the newest {found['looked_at']:,} events{since}" + (
        "" if found["per_day"] is None else f"; about {found['per_day']:g} a day"
    )
    for term in found["terms"]:
        yield f"  {term['events']:>7,}  {plain(term['text'])}"
    for match in found["matches"]:
        yield f"{moment(match['emitted_at'])}  {fit(match['title'] or match['url'], WIDTH)}"


def create(
    client: Client,
    query: str,
    *,
    name: str | None,
    language: str,
    match: str,
    sources: Sequence[str],
    tags: Sequence[str],
    channel: str | None,
    once_per_story: bool | None,
    as_json: bool,
    private: Sequence[str] = (),
) -> int:
    """Create an alert and print its id."""

    async def act() -> tuple[dict[str, Any], Sequence[str]]:
        body: dict[str, Any] = {"filter_query": query, "language": language, "match": match}
        body |= {"source_ids": await _sources(client, sources)} | ({"tags": list(tags)} if tags else {})
        body |= ({"name": name} if name else {}) | ({"channel": channel} if channel else {})
        body |= {"private_source_ids": await _sources(client, private)} if private else {}
        body |= {} if once_per_story is None else {"once_per_story": once_per_story}
        made = dict((await client.ask("POST", ALERTS.path, json=body)).json())
        told = (await client.ask("GET", f"{ALERTS.path}/{made['id']}/destinations")).json() if tags else ()
        return made, [one["label"] for one in told]

    made, told = asked(client, act)
    if as_json:
        print_json(made)
    else:
        to = f"It sends to {plain(', '.join(told))}, as its tags have it." if told else ""
        click.echo(
            hinted(f"Made {plain(made['name'])}. {to or 'It sends to nobody yet: `sanderling alerts deliver`.'}"),
            err=True,
        )
        click.echo(made["id"])
    return Exit.WELL


class Wish(NamedTuple):
    """The wanted destination; an empty target means the kind's own address."""

    target: str
    kind: str
    options: Mapping[str, str]
    mode: str
    format: str

    @property
    def body(self) -> dict[str, Any]:
        """The request body, without default values."""
        return {
            "delivery_mode": self.mode,
            **({"url": self.target} if self.target else {}),
            **({"kind": self.kind, "options": dict(self.options)} if self.kind != "webhook" or self.options else {}),
            **({"format": self.format} if self.format != "event" else {}),
        }


def values_of(options: Sequence[str]) -> dict[str, str]:
    """Parse NAME=VALUE options; the value @FILE reads the file, @- reads stdin. Raises CommandFailed."""
    found = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not name or not equals:
            raise CommandFailed(f"{plain(option)}: write NAME=VALUE.", Exit.USAGE)
        try:
            if value == "@-":
                value = sys.stdin.read().rstrip("\n")
            elif value.startswith("@"):
                value = Path(value[1:]).read_text("utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandFailed(f"The value of {plain(name)} can't be read: {error}.", Exit.USAGE) from None
        found[name] = value
    return found


def deliver(client: Client, name: str, wish: Wish, *, as_json: bool) -> int:
    """Add a destination and print its signing secret, if it has one."""

    async def act() -> dict[str, Any]:
        path = f"{ALERTS.path}/{await id_of(client, ALERTS, name)}/destinations"
        return dict((await client.ask("POST", path, json=wish.body)).json())

    made = asked(client, act)
    if as_json:
        print_json(made)
        return Exit.WELL
    secret = made.get("secret")
    where = f"Its matches go to {plain(made['label'])}, {plain(made['url'])} ({made['id']})."
    click.echo(f"{where} The signing secret, shown now only:" if secret else where, err=True)
    if secret:
        click.echo(secret)
    return Exit.WELL


def edit(
    client: Client,
    name: str,
    *,
    changes: Mapping[str, Any],
    sources: Sequence[str],
    tags: Sequence[str],
    everywhere: bool,
    as_json: bool,
    private: Sequence[str] = (),
) -> int:
    """Change an alert and print the result. everywhere: match all sources."""

    async def act() -> dict[str, Any]:
        body = dict(changes)
        if sources or tags or everywhere:
            body |= {"source_ids": await _sources(client, sources), "tags": list(tags)}
        if private:
            body["private_source_ids"] = await _sources(client, private)
        path = f"{ALERTS.path}/{await id_of(client, ALERTS, name)}"
        return dict((await client.ask("PATCH", path, json=body)).json())

    alert = asked(client, act)
    if as_json:
        print_json(alert)
    else:
        click.echo("\n".join(_asks(alert)))
    return Exit.WELL


def switch(client: Client, name: str, *, on: bool) -> int:
    async def act() -> dict[str, Any]:
        path = f"{ALERTS.path}/{await id_of(client, ALERTS, name)}"
        return dict((await client.ask("PATCH", path, json={"enabled": on})).json())

    click.echo(f"{plain(asked(client, act)['name'])} is {'active' if on else 'paused'}.", err=True)
    return Exit.WELL


def delete(client: Client, name: str, *, sure: bool) -> int:
    """Delete an alert after confirmation."""

    async def act() -> None:
        alert = await record_of(client, ALERTS, name)
        agree(f"Delete the alert {plain(alert['name'])} with its destinations?", sure=sure)
        await client.ask("DELETE", f"{ALERTS.path}/{alert['id']}")
        click.echo(f"Deleted {plain(alert['name'])}.", err=True)

    asked(client, act)
    return Exit.WELL
