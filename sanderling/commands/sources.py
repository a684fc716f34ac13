"""`sanderling sources`: add, list, show, edit, tag, pause, delete and restore watched URLs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import click

from actors.messages.requests import DetectRequest, NewSource
from sanderling.client.lines import Cell, local, moment
from sanderling.client.terminal import Audience, Listing, for_a_person, notify, print_json, print_made, print_page
from sanderling.commands import history, keys
from sanderling.commands.alerts import true_lines
from sanderling.commands.backup import sizes
from sanderling.commands.keys import ALERTS, SOURCES, called, sent, value_of, with_client
from sanderling.environment import environ, hinted
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import field_options
from sanderling.keyring import Names
from sanderling_client.receiver.terminal import fit
from storage.records.secrecy import plain
from storage.records.source import SOURCES as STATES
from storage.records.source import tag_of
from storage.records.tiers import TIERS

if TYPE_CHECKING:
    from sanderling.client.api import Client

EMPTY: Final = ("filter", "backfill")  # options of `add` with a meaning when empty: all frames, no entries
MOST_SHOWN: Final = 5
PATIENCE: Final = 60.0
POLL: Final = 0.25
SHORT_WAIT: Final = 5.0  # seconds of a refusal that `check --wait` waits out
FOLLOW_HELP = "Report each new item or entry with the text of the page it links to."
headers_file = click.option(
    "--headers-file",
    "headers",
    metavar="FILE",
    help="A file with request headers for a page behind a login, `Name: value` a line; - reads standard input. With a "
    "first line POST, the text after an empty line is posted. An empty file removes them.",
)


@click.group()
def sources() -> None:
    """Add, list, show, edit, tag, pause and delete watched URLs, through the running service."""


@sources.command("add")
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option("--type", type=click.Choice(list(TIERS)), help="Overrides detection.")
@click.option("--tag", "tags", multiple=True, help="A tag for its events; repeatable.")
@field_options(NewSource, new=False)
@click.option("--filter", help="For a WebSocket: which frames become events; '' means all.")
@click.option("--backfill", type=click.IntRange(0, 50), help="Emit the newest N existing entries.")
@click.option("--follow", is_flag=True, help=FOLLOW_HELP)
@headers_file
@click.option("--later", is_flag=True, help="Add it even if it can't be reached now.")
@click.option("--dry-run", is_flag=True, help="Show what would be watched, and add nothing.")
@click.option("--when", metavar="QUERY", help="Make an alert, for example 'price<300'; '' matches every change.")
@click.option("--notify", "to", metavar="TO", help="Where its matches go: a destination's name, or a webhook URL.")
@keys.records_flag
@with_client
async def add(
    client: Client, *, urls: Names, as_json: bool, dry_run: bool, when: str | None, to: str | None, **options: Any
) -> int:
    """Watch a URL, or several. Prints its type, the evidence, and its values. `sanderling add` is short for it."""
    to_url = to if to and "://" in to else None
    copied = [await keys.DESTINATIONS.id_of(client, to)] if to and not to_url else []
    alert = {"filter_query": when or "", "destination_ids": copied}
    if when is not None or to:  # a query that is refused adds nothing
        await client.ask("POST", f"{ALERTS.path}/preview", json={"filter_query": when or "", "last": 1, "limit": 0})
    headers, later, follow = headers_in(options.pop("headers")), options.pop("later"), options.pop("follow")
    body = keys.given(options) | {name: options[name] for name in EMPTY}
    body |= {"headers": headers, "follow": "new_links" if follow else None, "verify": "later" if later else None}
    body = {name: value for name, value in body.items() if value or (name in EMPTY and value is not None)}
    if dry_run:
        wanted = {name: body[name] for name in DetectRequest.__struct_fields__ if name in body}
        for url in urls:
            found = await sent(client, "POST", f"{SOURCES.path}/detect", json={"url": url} | wanted)
            print_page(found, found_lines, as_json=as_json)
        return Exit.WELL
    refused, watched = list[str](), dict[str, bool]()
    for url in urls:
        try:
            answer = await client.ask("POST", "/v1/sources", json={"url": url} | body)
        except CommandFailed as error:
            if len(urls) == 1 or error.code is not Exit.FAILED:
                raise
            refused.append(url)
            notify(error.message if error.message.startswith(url) else f"{plain(url)}: {error.message}")
        else:
            source, created = answer.json(), answer.status_code == 201
            watched[source["id"]] = created
            await _show_added(client, source, created=created, as_json=as_json)
            if not created and "url" in source and (left := unapplied(source, body)):
                refused.append(url)
                notify(f"{', '.join(left)}: not applied, as it was watched already; `sanderling sources edit` does it.")
    if watched and (when is not None or to):
        await _make(client, alert, watched, to_url)
    return Exit.FAILED if refused else Exit.WELL


async def _make(client: Client, alert: Mapping[str, Any], watched: Mapping[str, bool], url: str | None) -> None:
    """Make the alert of these sources with its webhook, or undo all of it. watched: whether each source is new."""
    made = await sent(client, "POST", ALERTS.path, json={**alert, "source_ids": list(watched)})
    to = "" if url or alert["destination_ids"] else " It has no destination: `sanderling alerts deliver`."
    if url:
        try:
            hook = await sent(client, "POST", f"{ALERTS.path}/{made['id']}/destinations", json={"url": url})
        except CommandFailed as error:
            for path in (f"{ALERTS.path}/{made['id']}", *(f"{SOURCES.path}/{id}" for id in watched if watched[id])):
                await client.ask("DELETE", path)
            raise CommandFailed(f"Nothing was added. {error.message}", error.code) from None
        to = f" The signing secret of {plain(url)}, shown only now: {hook['secret']}"
    click.echo(hinted(f"Created the alert {plain(made['name'])}.{to}"), err=True)
    for line in true_lines(made):
        click.echo(line, err=True)


def found_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a URL's type and the evidence, then its values, or the newest entries, or the watched texts of a page."""
    preview = found["preview"]
    pace, page, feed = preview["pace"], preview["page"], preview["feed"]
    yield f"{found['type']}  {plain(found['url'])}" + ("  (watched already)" if found["source_id"] else "")
    yield from evidence_lines(found["evidence"])
    values = page["values"] if page else ()
    yield from value_lines(values)
    shown = () if values else page["blocks"] if page else feed["newest"] if feed else preview["push"]["frames"]
    texts = [row.get("text") or row.get("title") or row["content"] for row in shown if row.get("watched", True)]
    for text in texts[:MOST_SHOWN]:
        yield f"  · {fit(text, 100)}"
    if pace:
        yield f"  The second check would be {moment(pace['next_look_at'])}."


def unapplied(source: Mapping[str, Any], body: Mapping[str, Any]) -> list[str]:
    wanted = {**body, "tags": [tag_of(tag) for tag in body.get("tags", ())]}
    found = list[str]()
    for name, value in wanted.items():
        has = source.get(name)
        differs = not set(value) <= set(has or ()) if isinstance(value, list) else (has or "") != value
        if differs and name not in ("verify", "backfill"):
            found.append(
                "--" + {"tags": "tag", "follow_hosts": "follow-host", "headers": "headers-file"}.get(name, name)
            )
    return [option.replace("_", "-") for option in found]


def headers_in(file: str | None) -> str | None:
    return None if file is None else value_of(f"@{file}", "--headers-file").strip()


async def _show_added(client: Client, source: Mapping[str, Any], *, created: bool, as_json: bool) -> None:
    if as_json:
        print_json(source)
        return
    click.echo("Added." if created else "It is already watched.", err=True)
    if "url" not in source:  # the key may not read sources
        click.echo(source["id"])
        return
    click.echo(f"{source['id']}  {source['type']}  {plain(source['url'])}")
    lines = list(evidence_lines(source["detection"]["evidence"]))
    if created and TIERS[source["type"]].has_diff:
        values = await sent(client, "GET", f"{SOURCES.path}/{source['id']}/values")
        lines += value_lines(values.get("current", ()))
    if created and source["next_fetch_at"]:
        lines.append(f"  The next check is due {moment(source['next_fetch_at'])}.")
    click.echo("\n".join(lines), err=True)


def evidence_lines(evidence: str) -> list[str]:
    """Return how a type was found out; a sentence about a browser and one about an API have their own lines.

    >>> evidence_lines("an HTML document; served as text/html; This page is empty, so a browser shows it. It fills")
    ['  an HTML document; served as text/html', '  This page is empty, so a browser shows it.', '  It fills']
    """
    return [f"  {line}" for line in re.split(r"; (?=[A-Z][a-z]+ )|(?<=\.) (?=[A-Z])", plain(evidence))]


def value_lines(values: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the first values of a page, each with its path or label: prices first."""
    for value in sorted(values, key=lambda value: value["type"] != "money")[:MOST_SHOWN]:
        label = plain(value["path"]) or fit(value["label"], 100)  # a path is a selector, so it is whole
        yield f"  {': '.join(filter(None, (label, fit(history.shown_value(value, value), 100))))}"


@sources.command("list")
@click.option("--state", type=click.Choice(list(STATES)), help="Only those in this state.")
@click.option("--tag", help="Only those with this tag.")
@keys.records_flag
@with_client
async def listed(client: Client, *, as_json: bool, state: str | None, tag: str | None) -> None:
    """List the watched URLs, worst health first. A terminal gets headings and the ends of ids, a pipe whole ids."""
    every = client.every(SOURCES.path, {"state": state} if state else {})
    wanted = None if tag is None else tag_of(tag)
    found = (source async for source in every if wanted is None or wanted in source["tags"])
    shown = SOURCE_LIST if state is tag is None else SOURCE_LIST._replace(none="No source matches.")
    async with aclosing(every):
        await shown.show_each(found, as_json=as_json)


def source_row(source: Mapping[str, Any]) -> Sequence[Cell | str]:
    state, url, name = STATES[source["state"]], str(source["url"]), called(source)
    bare = url.removeprefix("https://").removeprefix("http://")
    troubled = state.mood in ("bad", "warn") or source["health"]["flag"] != "ok"
    return (
        Cell(state.word, state.mood),
        Cell(f"{source['health']['score']:.2f}", right=True),
        TIERS[source["type"]].noun,
        source["id"],
        Cell(f"{url}  {name}", short=f"{name}  {bare}" if name else bare),
        str(source["health"]["reason"]) if troubled else "",
    )


SOURCE_LIST = Listing(
    ("state", "health", "type", "id", "source", "why"), source_row, "Nothing is watched yet: `sanderling add URL`."
)


@sources.command("show")
@click.argument("name", metavar="SOURCE")
@click.option("--json", "as_json", is_flag=True, help="The service's own record, with its status.")
@with_client
async def show(client: Client, *, name: str, as_json: bool) -> None:
    """Show one source: type, health and its reason, schedule. SOURCE is its id, a name, its URL or a part of these."""
    source = await SOURCES.record_of(client, name)
    status = await sent(client, "GET", f"{SOURCES.path}/{source['id']}/status")
    print_page(source | {"status": status}, lambda source: source_page(source, status), as_json=as_json)


def source_page(source: Mapping[str, Any], status: Mapping[str, Any], zone: tzinfo | None = None) -> Iterator[str]:
    def when(text: str | None) -> str:
        return moment(text, zone) if text else "never"

    yield f"{source['type']}  {plain(source['url'])}  {source['id']}"
    if name := called(source):
        yield f"  title       {plain(name)}"
    yield f"  detected    {plain(source['detection']['evidence'])}"
    health = source["health"]
    yield f"  health      {health['flag']} {health['score']:.2f}: {plain(health['reason'])}"
    if source["rendered"] or source["render"] == "always":
        yield f"  rendered    {source['render']}: a browser shows it, so a check costs as much as 100 plain ones"
    if source["tags"]:
        yield f"  tags        {plain(', '.join(source['tags']))}"
    for setting, tags in source["inherited"].items():
        value = source["effective"][setting]
        shown = ", ".join(value) if isinstance(value, list) else value
        yield f"  {setting:<10}  {plain(str(shown))}, from the tag {plain(', '.join(tags))}"
    if source["own_only"]:
        yield f"  own only    {', '.join(source['own_only'])}: not taken from its tags"
    if status["state"] == "disabled":
        yield hinted("  state       paused; `sanderling sources resume` watches it again")
    else:
        yield f"  next check  {when(status['next_fetch_at'])}, every {status['interval_s']:,.0f} s"
    yield f"  last check  {when(status['last_fetch_at'])}; last success {when(status['last_success_at'])}"
    if status["last_error"]:
        yield f"  last error  {plain(status['last_error'])}"
    since = f", the last {status['unchanged']:,} without a change" if status["unchanged"] else ""
    told = f"{status['looks']:,} checks{since}; {status['events']:,} events"
    held = status["held"]
    yield f"  in the log  {held['events']:,} events, about {held['bytes'] / 1024:,.1f} KiB"
    yield f"  total       {told}, the newest {when(status['last_event_at'])}"


@sources.command("check")
@click.argument("name", metavar="SOURCE")
@click.option("--wait/--no-wait", default=None, help="Wait for the result; the default on a terminal.")
@click.option("--json", "as_json", is_flag=True, help="The source's status after the check; implies --wait.")
@with_client
async def check(client: Client, *, name: str, wait: bool | None, as_json: bool) -> int:
    """Check a source now, as soon as its host's rate limit allows."""
    import trio

    from sanderling.client.api import ServiceRefused

    path = await SOURCES.path_of(client, name)
    waits = wait or as_json or (wait is None and for_a_person())
    before = await sent(client, "GET", f"{path}/status") if waits else None
    try:
        answer = await sent(client, "POST", f"{path}/check")
    except ServiceRefused as refused:
        if before is None or not 0 < refused.after <= SHORT_WAIT:
            raise
        await trio.sleep(refused.after)
        answer = await sent(client, "POST", f"{path}/check")
    if before is None:
        click.echo(f"The next check is due {moment(answer['next_fetch_at'])}.", err=True)
        return Exit.WELL
    after = await _checked(client, path, before)
    if as_json:
        print_json(after)
    elif after["last_error"]:
        click.echo(f"The check failed: {plain(after['last_error'])}.", err=True)
    elif new := after["events"] - before["events"]:
        click.echo(f"{new} new {'event' if new == 1 else 'events'}:", err=True)
        query = {"order": "desc", "limit": str(min(new, MOST_SHOWN)), "source": path.rpartition("/")[2]}
        audience = Audience(environ(), None, as_json=False)
        for event in reversed((await sent(client, "GET", "/v1/events", params=query))["events"]):
            audience.show(json.dumps(event))
        if new > MOST_SHOWN:
            click.echo(f"All of them: `sanderling events --source {name} -n {new}`", err=True)
    else:
        reasons = (await sent(client, "GET", f"{path}/why"))["reasons"]
        says = (local(reason["says"]) for reason in reasons if reason["at"] == after["last_fetch_at"])
        click.echo(plain(next((f"No event: {text}" for text in says), "Nothing new.")), err=True)
    return Exit.FAILED if after["last_error"] else Exit.WELL


async def _checked(client: Client, path: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status after a requested check. Raises CommandFailed if it takes too long."""
    import trio

    with trio.move_on_after(PATIENCE):
        while True:
            after = await sent(client, "GET", f"{path}/status")
            if after["last_fetch_at"] != before["last_fetch_at"]:
                return after
            await trio.sleep(POLL)
    raise CommandFailed(f"No result within {PATIENCE:.0f} s; `sanderling sources show` has it later.", Exit.TRY_AGAIN)


@sources.command("edit")
@click.argument("name", metavar="SOURCE")
@field_options(NewSource, new=False)
@click.option("--follow/--no-follow", default=None, help=FOLLOW_HELP)
@headers_file
@keys.record_flag
@with_client
async def edit(client: Client, *, name: str, as_json: bool, **options: Any) -> None:
    """Change how a source is watched. Options that you leave out stay as they are; '' empties one."""
    title, follow = options.pop("title"), options.pop("follow")
    body = keys.given(options | {"headers": headers_in(options["headers"])})
    body |= {} if title is None else {"title": title}
    body |= {} if follow is None else {"follow": "new_links" if follow else "none"}
    await _edit(client, name, body, as_json=as_json)


async def _edit(client: Client, name: str, body: Mapping[str, Any], *, as_json: bool) -> None:
    if not body:
        raise CommandFailed("Name something to change: --title, --schedule, --selector, --ignore or --bar.", Exit.USAGE)
    source = await sent(client, "PATCH", await SOURCES.path_of(client, name), json=dict(body))
    print_made(source, f"Changed {plain(called(source) or source['url'])}.", as_json=as_json)


@sources.command("rename")
@click.argument("name", metavar="SOURCE")
@click.argument("title")
@with_client
async def rename(client: Client, *, name: str, title: str) -> None:
    """Give a source a name of your own; '' restores its own title."""
    await _edit(client, name, {"title": title}, as_json=False)


def _tags(verb: str, says: str, *, on: bool) -> click.Command:
    @sources.command(verb, help=says)
    @click.argument("tag")
    @click.argument("names", metavar="SOURCE...", nargs=-1, required=True)
    @with_client
    async def change(client: Client, *, tag: str, names: Names) -> int:
        return await _tag_all(client, names, tag_of(tag), on=on)

    return change


_TAGS = "Add a tag to sources; a bare word is a label. Exit code: 0 all have it, 1 at least one does not."
tag = _tags("tag", _TAGS, on=True)
untag = _tags("untag", "Remove a tag from sources.", on=False)


async def _tag_all(client: Client, names: Names, tag: str, *, on: bool) -> int:
    """Add or remove a tag. With several sources, a refusal does not stop the others."""
    refused = list[str]()
    for name in names:
        try:
            await _tag(client, name, tag, on=on)
        except CommandFailed as error:
            if len(names) == 1 or error.code in (Exit.UNREACHABLE, Exit.TRY_AGAIN):
                raise
            refused.append(name)
            notify(hinted(f"{plain(name)}: {error.message}"))
    return Exit.FAILED if refused else Exit.WELL


async def _tag(client: Client, name: str, tag: str, *, on: bool) -> None:
    source = await SOURCES.record_of(client, name)
    if on == (tag in source["tags"]):
        click.echo(f"{plain(source['url'])} already has {'' if on else 'no '}{plain(tag)}.", err=True)
        return
    tags = [each for each in source["tags"] if each != tag] + [tag] * on
    await client.ask("PATCH", f"{SOURCES.path}/{source['id']}", json={"tags": tags})
    click.echo(f"{plain(source['url'])} {'now has' if on else 'no longer has'} {plain(tag)}.", err=True)


def _switch(verb: str, says: str, *, on: bool) -> click.Command:
    @sources.command(verb, help=says)
    @click.argument("name", metavar="SOURCE")
    @with_client
    async def switch(client: Client, *, name: str) -> None:
        path = await SOURCES.path_of(client, name)
        source = await sent(client, "POST", f"{path}/{'enable' if on else 'disable'}")
        click.echo(f"{plain(source['url'])} is {'watched' if on else 'paused'}.", err=True)

    return switch


resume = _switch("resume", "Resume a source: it is watched again.", on=True)
pause = _switch("pause", "Pause a source: it is kept, and not checked until you resume it.", on=False)


@sources.command("delete")
@click.argument("name", metavar="SOURCE")
@keys.yes_flag
@with_client
async def delete(client: Client, *, name: str, sure: bool) -> None:
    """Delete a source; its events stay in the log."""
    source = await SOURCES.removed(client, name, "Delete {}? Its events stay.", sure=sure)
    click.echo(f"Deleted {plain(source['url'])}.", err=True)
    click.echo(hinted(f"Undo it within ten minutes: `sanderling sources restore {source['id']}`."), err=True)


@sources.command("restore")
@click.argument("id", metavar="ID")
@with_client
async def restore(client: Client, *, id: str) -> None:
    """Restore a deleted source with its whole state, within ten minutes. `delete` prints its ID."""
    try:
        known = UUID(id)  # no list shows a deleted source, so a part of its id finds nothing
    except ValueError:
        raise CommandFailed("Give its whole id, as `sanderling sources delete` printed it.", Exit.USAGE) from None
    source = await sent(client, "POST", f"{SOURCES.path}/{known}/restore")
    click.echo(f"Restored {plain(called(source) or source['url'])}.", err=True)


for command in (sizes, history.values, history.versions, history.compare):
    sources.add_command(command)
