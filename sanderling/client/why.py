"""`sanderling why`: why a text was not reported, with times in the reader's zone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

import click
import trio

from sanderling.client.api import Client
from sanderling.client.naming import SOURCES, id_of
from sanderling.exits import Exit
from sanderling.json_lines import print_json
from storage.records.secrecy import plain

_MOMENT = re.compile(r"\b(\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d) UTC\b")


def why(client: Client, source: str, text: str, *, look: bool, as_json: bool) -> int:
    """Print why a text was not reported, or without a text how the last checks went."""

    async def run() -> dict[str, Any]:
        async with client:
            found = await id_of(client, SOURCES, source)
            query = {"text": text, "look": "true" if look else "false"}
            return dict((await client.ask("GET", f"/v1/sources/{found}/why", params=query)).json())

    answer = trio.run(run)
    if as_json:
        print_json(answer)
    else:
        for line in lines(answer, asked=bool(text), looked=look):
            click.echo(line)
    return Exit.WELL


def lines(answer: Mapping[str, Any], *, asked: bool, looked: bool = False, zone: tzinfo | None = None) -> Iterator[str]:
    """Yield the source, the reasons (best first), and the source's state."""
    title = answer.get("title")
    yield f"{answer['type']}  {plain(answer['url'])}" + (f"  ({plain(title)})" if title else "")
    for reason in answer["reasons"]:
        yield f"  {plain(local(reason['says'], zone))}"
        if reason["text"] and f"“{reason['text'][:80]}”" not in reason["says"]:
            yield f"    “{plain(reason['text'][:120])}”"
    yield f"  {plain(local(answer['state'], zone))}"
    if (
        asked
        and not looked
        and answer["type"] != "push"
        and not any(one["kind"] == "told" for one in answer["reasons"])
    ):
        yield "  (--look looks at it now, too, as politely as always)"


def local(sentence: str, zone: tzinfo | None = None) -> str:
    """Convert UTC times in a sentence to a time zone, local by default.

    >>> from datetime import timedelta, timezone
    >>> local("Seen on 28 May 2026 23:26 UTC.", timezone(timedelta(hours=2)))
    'Seen on 29 May 2026 01:26.'
    """

    def there(found: re.Match[str]) -> str:
        moment = datetime.strptime(found[1], "%d %b %Y %H:%M").replace(tzinfo=UTC).astimezone(zone)
        return f"{moment.day} {moment:%b %Y %H:%M}"

    return _MOMENT.sub(there, sentence)
