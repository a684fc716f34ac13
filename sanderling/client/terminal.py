"""Print records: lists, pages, live events, JSON. A terminal gets tables; pipes and files get whole ids and times.

It imports nothing slow: `sanderling --help` loads it.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import click
import msgspec

from sanderling.client.lines import Cell, Renderer, ago, alert_lines, moment, piped, table
from sanderling.environment import environ, hinted, on_terminal, wants_colour
from sanderling_client.receiver.terminal import escaped
from storage.records.secrecy import plain
from storage.records.source import DESTINATIONS

if TYPE_CHECKING:
    from httpx_sse import ServerSentEvent


T = TypeVar("T")


def for_a_person() -> bool:
    return on_terminal(1)


class Listing(NamedTuple, Generic[T]):
    """A table for a person, a line a record in a pipe. none: the hint on stderr without any. record: an item's JSON."""

    heads: Sequence[str]
    row: Callable[[T], Sequence[Cell | str]]
    none: str = ""
    record: Callable[[T], object] = lambda item: item

    def show(self, found: Sequence[T], *, as_json: bool) -> None:
        kept = list[T]()
        for item in found:
            self._take(item, kept, as_json=as_json)
        self._end(kept, some=as_json or bool(found))

    async def show_each(self, found: AsyncIterable[T], *, as_json: bool) -> None:
        """Print each record as it arrives, but a table once all are there."""
        some, kept = as_json, list[T]()
        async for item in found:
            some = True
            self._take(item, kept, as_json=as_json)
        self._end(kept, some=some)

    def _take(self, item: T, kept: list[T], *, as_json: bool) -> None:
        if as_json:
            print_json(self.record(item))
        elif for_a_person():
            kept.append(item)
        else:
            click.echo(piped(self.row(item)))

    def _end(self, kept: Sequence[T], *, some: bool) -> None:
        if self.none and not some:
            click.echo(hinted(self.none), err=True)
        width, rows = shutil.get_terminal_size((100, 24)).columns, [self.row(item) for item in kept]
        for line in table(self.heads, rows, width, colour=wants_colour(environ())) if rows else ():
            click.echo(line)


def age_of(moment: str | None) -> Cell:
    from sanderling.real_world import wall

    return Cell(moment or "never", short=ago(moment, datetime.fromtimestamp(wall(), UTC)))


def print_page(
    item: T, page: Callable[[T], Iterable[str]], *, as_json: bool, record: Callable[[T], object] = lambda item: item
) -> None:
    """Print one item as JSON, or as the lines of its page. record: the JSON of an item that is not JSON itself."""
    if as_json:
        print_json(record(item))
    else:
        click.echo("\n".join(page(item)))


def print_made(made: object, says: str, last: str = "", *, as_json: bool) -> None:
    """Print JSON; else a report on stderr, and on stdout the one text to copy, if any."""
    if as_json:
        print_json(made)
        return
    click.echo(says, err=True)
    if last:
        click.echo(last)


def notify(words: str) -> None:
    click.echo(f"sanderling: {words}", err=True)


class Audience:
    """Prints events for people or as JSON lines; cancels its scope after `wanted` events (None: never)."""

    def __init__(self, variables: Mapping[str, str], wanted: int | None, *, as_json: bool = False) -> None:
        import trio

        self.scope = trio.CancelScope()
        self._left = wanted
        self._as_json = as_json
        self._renderer = Renderer(width=shutil.get_terminal_size((100, 24)).columns, colour=wants_colour(variables))

    def show(self, event: str) -> None:
        if self._as_json:
            echo_json(event)
        else:
            click.echo("\n".join(self._renderer.lines(msgspec.json.decode(event))))

    def take(self, event: ServerSentEvent) -> None:
        if self._left == 0:
            return
        self.show(event.data)
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self.scope.cancel()


def alert_page(alert: Mapping[str, Any], destinations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from alert_lines(alert)
    last = f", the last one {moment(alert['last_match_at'])}" if alert["last_match_at"] else ""
    count = alert["match_count"]
    yield f"  met       {count:,} {'event' if count == 1 else 'events'}{last}"
    for each in destinations:
        state, attempt = DESTINATIONS[each["state"] if each["enabled"] else "paused"], each.get("last_attempt")
        failed = attempt["error"] if attempt else None
        state = DESTINATIONS["last_failed"] if failed and state == DESTINATIONS["active"] else state
        yield f"  sends to  {each['id']}  {state.word:<8}  {each['delivery_mode']:<7}  {plain(each['url'])}"
        if attempt and failed:
            due = f"; next attempt {moment(attempt['next_attempt_at'])}" if attempt["next_attempt_at"] else ""
            yield f"    {plain(failed)}{due}"
    if not destinations:
        yield hinted("  sends to  nothing yet; `sanderling alerts deliver` adds a URL")


def print_json(record: object) -> None:
    echo_json(msgspec.json.encode(record).decode())


def echo_json(text: str) -> None:
    """Print JSON, with dangerous characters escaped if stdout is a terminal."""
    click.echo(shown(text))


def shown(text: str) -> str:
    return escaped(text) if on_terminal(1) else text
