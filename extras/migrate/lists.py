"""Lists of addresses and of feeds (OPML) as sources.

A line is `URL`, then comma-separated tags, then `| title`; `#` at the beginning or after a space starts a comment. A
table (CSV with commas, semicolons or tabs) needs only the column `url`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from typing import Final

from actors.content.bodies.encoding import decode
from actors.content.errors import ContentError
from actors.content.feeds import read_outline
from extras.migrate.drafting import Drafting, NotReadable, Plan, shortened
from storage.records.tiers import TIERS

MOST_LINES: Final = 100_000
LONGEST_LINE: Final = 20_000
_COMMENT = re.compile(r"(?:^|\s)#.*")
_INTERVAL = re.compile(r"(\d{1,7})\s*([smhd]?)", re.IGNORECASE | re.ASCII)
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "url": ("url", "uri", "link", "address", "feed_url", "feed", "xmlurl"),
    "title": ("title", "name", "label"),
    "tags": ("tags", "tag", "category", "categories", "folder", "group", "labels"),
    "selector": ("selector", "css", "css_selector"),
    "ignore": ("ignore",),
    "interval": ("interval", "schedule"),
    "type": ("type",),
    "enabled": ("enabled", "active"),
    "paused": ("paused", "disabled"),
}
_YES = ("1", "true", "yes", "on", "y")


def read_urls(data: bytes) -> Plan:
    """Raises NotReadable."""
    drafting = Drafting()
    for number, line in enumerate(_lines(data), 1):
        text = _COMMENT.sub("", line).strip()
        if not text:
            continue
        rest, _, title = text.partition(" | ")
        url, *words = rest.split(None, 1)
        drafting.source(f"line {number}", url, title=title, tags=words[0].split(",") if words else ())
    return drafting.plan("urls")


def read_csv(data: bytes) -> Plan:
    """Raises NotReadable."""
    lines = _lines(data)
    if not lines:
        raise NotReadable("It is empty.")
    rows = csv.reader(lines, delimiter=delimiter_of(lines[0]))
    drafting = Drafting()
    try:
        columns = columns_of(next(rows))
        if "url" not in columns:
            raise NotReadable("Its first line names no column `url`.")
        for row in rows:
            if any(cell.strip() for cell in row):
                cells = {name: row[at] for name, at in columns.items() if at < len(row)}
                _row(drafting, f"line {rows.line_num}", cells)
    except csv.Error as error:
        raise NotReadable(f"It is not a table: line {rows.line_num}: {error}.") from None
    return drafting.plan("csv")


def _row(drafting: Drafting, place: str, cells: Mapping[str, str]) -> None:
    kind = cells.get("type", "").strip().lower()
    if kind and kind not in TIERS:
        says = f"{shortened(kind, 40)!r} is not one of {', '.join(TIERS)}: the type is detected"
        drafting.note(place, "type", "impossible", says)
    tags = re.split(r"[,;]", cells.get("tags", ""))
    drafting.source(
        place,
        cells.get("url", ""),
        title=cells.get("title", ""),
        tags=tags,
        selectors=_some(cells.get("selector", "")),
        ignore=_some(cells.get("ignore", "")),
        seconds=_seconds(drafting, place, cells.get("interval", "").strip()),
        enabled=_says(cells, "enabled", default=True) and not _says(cells, "paused", default=False),
        kind=next((name for name in TIERS if name == kind), None),
    )


def _seconds(drafting: Drafting, place: str, text: str) -> float | None:
    if not text:
        return None
    found = _INTERVAL.fullmatch(text)
    if found is None:
        drafting.note(place, "interval", "impossible", f"{shortened(text, 40)!r} is invalid: write 10m, or seconds")
        return None
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[found[2].lower()]


def _some(text: str) -> tuple[str, ...]:
    return (text.strip(),) if text.strip() else ()


def _says(cells: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = cells.get(name, "").strip().lower()
    return text in _YES if text else default


def columns_of(header: list[str]) -> dict[str, int]:
    """Return the position of each known column.

    >>> columns_of(["Name", " Feed URL ", "x"])
    {'url': 1, 'title': 0}
    """
    words = [cell.strip().lower().replace(" ", "_") for cell in header]
    found = {
        name: next((words.index(other) for other in others if other in words), -1) for name, others in _NAMES.items()
    }
    return {name: at for name, at in found.items() if at >= 0}


def delimiter_of(header: str) -> str:
    return max(",;\t", key=header.count)


def _lines(data: bytes) -> list[str]:
    lines = decode(data, "").text.lstrip("\ufeff").splitlines()
    if len(lines) > MOST_LINES:
        raise NotReadable(f"It has {len(lines)} lines; at most {MOST_LINES} are read: split the file.")
    if long := next((number for number, line in enumerate(lines, 1) if len(line) > LONGEST_LINE), None):
        raise NotReadable(f"Line {long} is over {LONGEST_LINE} characters long: this is not a list of addresses.")
    return lines


def read_opml(data: bytes) -> Plan:
    """Folders and categories become tags. Raises NotReadable."""
    try:
        outline = read_outline(data, MOST_LINES)
    except ContentError as error:
        raise NotReadable(error.reason) from None
    drafting = Drafting()
    for number, line in enumerate(outline.feeds, 1):
        drafting.source(f"feed {number}", line.url, title=line.title, tags=line.tags)
    for address in outline.lists:
        drafting.note(
            "the file", "list", "impossible", f"{shortened(address, 120)}: a list inside a list is not followed"
        )
    if outline.left_out:
        says = f"{outline.left_out} feeds after the first {MOST_LINES} are not read: split the file"
        drafting.note("the file", "feeds", "impossible", says)
    return drafting.plan("opml")
