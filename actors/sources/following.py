"""Sources that follow: each new item is reported once, with the text of its page, which is fetched once. Pure.

A check stores a new item here in the transaction that marks it as seen; its event is committed together with the memory
that no longer has it waiting. `polling.py` fetches and reads the pages.

Each page gets three attempts: at once, after one minute and after ten; a permanent refusal (404, robots.txt, a login)
gets one. Then the item is reported as the list has it, with the reason (`unread`). So are items that arrive while too
many wait, and items on a host that is neither of the source's own site (the list's host with its subdomains and parent
domains) nor named by the user (with its subdomains; `*` means all). Other hosts get neither the user's headers nor
cookies, and have their own robots.txt, pace and breaks.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.messages import Entry, ListLook, item_form
from actors.content.wording.words import content_hash, simhash
from actors.egress.url import read_host
from actors.notices import notice_draft
from actors.sources.checks.progress import draft_of
from storage.records.checks import MOST_PARTS, Note, NoteOutcome, Part
from storage.records.event import NEW, UPDATED, Draft
from storage.records.identity import Millis
from storage.records.source import Source

ALL: Final = "*"
MOST_OF_HOST: Final = 20
"""Waiting pages of one other host: a list that links to a single host is no reason to read all of it."""
MOST_ELSEWHERE: Final = 50  # waiting pages of all other hosts together
_NAMED_HOSTS: Final = 3


def parse_hosts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return normalized hosts, each once. Raises UrlRefused.

    >>> parse_hosts(("www.News.example", "*", "*.news.example."))
    ('news.example', '*')
    """
    hosts = (ALL if text == ALL else read_host(text.removeprefix("*.")).removeprefix("www.") for text in texts)
    return tuple(dict.fromkeys(hosts))


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def is_own(source: Source, host: str) -> bool:
    return any(_is_same_site(host, host_of(own)) for own in (source.url, source.watch_url, source.detection.final_url))


def is_named(host: str, named: Collection[str]) -> bool:
    """Return whether a user has named a host.

    >>> is_named("blog.a.example", ["a.example"]), is_named("a.example", ["blog.a.example"]), is_named("b", ["*"])
    (True, False, True)
    """
    return bool(host) and any(place in (ALL, host) or ("." in place and host.endswith(f".{place}")) for place in named)


def other_hosts_text(fetched: Sequence[str], skipped: Sequence[str]) -> str:
    return "".join(
        f" {len(hosts)} of them {'is' if len(hosts) == 1 else 'are'} on {_listed(hosts)}: {says}."
        for hosts, says in ((fetched, "fetched, too"), (skipped, "not fetched"))
        if hosts
    )


def _listed(hosts: Sequence[str]) -> str:
    names = list(dict.fromkeys(hosts))
    more = f" and {len(names) - _NAMED_HOSTS} more" if len(names) > _NAMED_HOSTS else ""
    return f"{'another host' if len(names) == 1 else 'other hosts'} ({', '.join(names[:_NAMED_HOSTS])}{more})"


def _is_same_site(one: str, other: str) -> bool:
    """Return whether two hosts are equal, or one is a subdomain of the other.

    >>> _is_same_site("blog.a.example", "a.example"), _is_same_site("a.example", "b.example")
    (True, False)
    """
    return bool(one) and (one == other or one.endswith(f".{other}") or other.endswith(f".{one}"))


MOST_WAITING = 200
MOST_BYTES = 256 * 1024  # for the texts of all waiting items
ENOUGH = 16 * 1024  # characters of an entry that already has its whole text, so its page is not fetched
RETRIES = (60.0, 600.0)  # seconds before each retry of a page
PATIENCE = 24 * 3600.0
"""Seconds until an item is reported without its page, whatever the delay: a resting host, a budget."""
HOUR = 3_600_000
FILE_DELAY = 3600.0  # seconds before a retry of a file of a sitemap's index, and before the next file's turn
_MOST_RAW = 8 << 20


class WaitingItem(Struct, frozen=True, array_like=True):
    """An item from its list, or a file of a sitemap's index (`file`, no draft). attempts: failed attempts."""

    draft: Draft | None
    since: Millis
    due: Millis
    attempts: int = 0
    file: str = ""

    @property
    def url(self) -> str:
        return self.file or (self.draft.url if self.draft is not None else "")


class FollowQueue(Struct, frozen=True, array_like=True):
    """Waiting items in the order of reporting, and the pages fetched in the hour that began at `hour`."""

    waiting: tuple[WaitingItem, ...] = ()
    hour: Millis = Millis(0)
    fetched: int = 0


class FollowResult(Struct, frozen=True):
    """Drafts to report at once, and the items that wait. other_hosts: with pages to fetch; skipped_hosts: without."""

    drafts: tuple[Draft, ...]
    queue: FollowQueue
    other_hosts: tuple[str, ...] = ()
    skipped_hosts: tuple[str, ...] = ()


def encode(queue: FollowQueue) -> bytes:
    """Return the stored form; b"" when no item waits and no page was fetched."""
    if not queue.waiting and not queue.fetched:
        return b""
    return zlib.compress(msgspec.msgpack.encode(queue), 6)


def decode(stored: bytes) -> FollowQueue:
    """Return the waiting items; none if the bytes are damaged or of another version."""
    if not stored:
        return FollowQueue()
    try:
        return msgspec.msgpack.decode(zlib.decompressobj().decompress(stored, _MOST_RAW), type=FollowQueue)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError):
        return FollowQueue()


def enqueue(
    queue: FollowQueue, source: Source, drafts: Sequence[Draft], now: Millis, files: Iterable[str] = ()
) -> FollowResult:
    """Sort a check's drafts: if the source follows, new items wait for their pages."""
    if source.follow == "none":
        unfollowed = (
            replace(item.draft, unread="The source no longer follows links.") for item in queue.waiting if item.draft
        )
        return FollowResult((*unfollowed, *drafts), FollowQueue())
    if not queue.waiting and now >= queue.hour + HOUR:
        queue = FollowQueue()
    reported: list[Draft] = []
    other_hosts: list[str] = []
    skipped_hosts: list[str] = []
    waiting = list(queue.waiting)
    bytes_left = MOST_BYTES - sum(_size(item.draft) for item in waiting if item.draft)
    for draft in drafts:
        index = _index_of_edited(waiting, draft)
        if index is not None:
            tags = tuple(NEW if tag == UPDATED else tag for tag in draft.tags)
            waiting[index] = replace(waiting[index], draft=replace(draft, tags=tags))
            continue
        is_item = NEW in draft.tags and draft.alert_type is None and not draft.practice and len(draft.content) < ENOUGH
        reason = _why_not_fetched(source, draft, waiting, bytes_left) if is_item else "-"
        if reason != "-" and draft.url and not is_own(source, host := host_of(draft.url)):
            (skipped_hosts if reason else other_hosts).append(host)
        if reason:
            reported.append(draft if reason == "-" else replace(draft, unread=reason))
        else:
            bytes_left -= _size(draft)
            waiting.append(WaitingItem(draft, now, now))
    known_files = {item.file for item in waiting}
    waiting += [WaitingItem(None, now, now, file=file) for file in files if file not in known_files]
    queue = replace(queue, waiting=tuple(waiting))
    return FollowResult(tuple(reported), queue, tuple(other_hosts), tuple(skipped_hosts))


def due_at(queue: FollowQueue, per_hour: int) -> Millis | None:
    if not queue.waiting:
        return None
    due = min(item.due for item in queue.waiting)
    return Millis(max(due, queue.hour + HOUR)) if queue.fetched >= per_hour else due


def next_item(queue: FollowQueue, now: Millis) -> WaitingItem | None:
    return min((one for one in queue.waiting if one.due <= now), key=lambda one: (not one.file, one.due), default=None)


def count_fetch(queue: FollowQueue, now: Millis) -> FollowQueue:
    if not queue.hour <= now < queue.hour + HOUR:
        return replace(queue, hour=now, fetched=1)
    return replace(queue, fetched=queue.fetched + 1)


def remove(queue: FollowQueue, item: WaitingItem) -> FollowQueue:
    return replace(queue, waiting=tuple(other for other in queue.waiting if other != item))


def retry_later(queue: FollowQueue, item: WaitingItem, now: Millis) -> FollowQueue:
    wait = FILE_DELAY if item.file else RETRIES[min(item.attempts, len(RETRIES) - 1)]
    later = replace(item, attempts=item.attempts + 1, due=Millis(now + round(1000 * wait)))
    return replace(queue, waiting=tuple(later if each == item else each for each in queue.waiting))


def enqueue_file(queue: FollowQueue, file: str, now: Millis) -> FollowQueue:
    if not file or any(item.file == file for item in queue.waiting):
        return queue
    item = WaitingItem(None, now, Millis(now + round(1000 * FILE_DELAY)), file=file)
    return replace(queue, waiting=(*queue.waiting, item))


def hold_host(queue: FollowQueue, item: WaitingItem, now: Millis, wait: float) -> FollowQueue:
    """Return the state while one item's host rests; items on other hosts do not wait."""
    due, host = Millis(now + round(1000 * wait)), host_of(item.url)
    later = (replace(each, due=max(each.due, due)) if host_of(each.url) == host else each for each in queue.waiting)
    return replace(queue, waiting=tuple(later))


def is_on_other_host(source: Source, item: WaitingItem) -> bool:
    return not item.file and not is_own(source, host_of(item.url))


def gives_up(item: WaitingItem, now: Millis, *, is_permanent: bool) -> bool:
    """Return whether to report an item without its page. is_permanent: a retry is pointless."""
    return is_permanent or item.attempts >= len(RETRIES) or is_late(item, now)


def is_late(item: WaitingItem, now: Millis) -> bool:
    return item.draft is not None and now - item.since >= 1000 * PATIENCE


def _why_not_fetched(source: Source, draft: Draft, waiting: Sequence[WaitingItem], bytes_left: int) -> str:
    host, count = host_of(draft.url), len(waiting)
    if not draft.url or item_form(draft.url) in {item_form(source.watch_url), item_form(source.url)}:
        return "It has no page of its own."
    if not is_own(source, host):
        if not is_named(host, source.follow_hosts):
            return f"Its page is on another host, {host}, which is not fetched."
        others = [host_of(item.url) for item in waiting if is_on_other_host(source, item)]
        if len(others) >= MOST_ELSEWHERE or others.count(host) >= MOST_OF_HOST:
            return f"Too many new items on {'other hosts' if others.count(host) < MOST_OF_HOST else host} wait already."
    if count >= MOST_WAITING or bytes_left < _size(draft):
        return f"Too many new items wait for their pages already ({count})."
    return ""


def _index_of_edited(waiting: Sequence[WaitingItem], draft: Draft) -> int | None:
    if UPDATED not in draft.tags or not draft.url:
        return None
    return next((n for n, item in enumerate(waiting) if item.draft is not None and item.draft.url == draft.url), None)


def _size(draft: Draft) -> int:
    return len(draft.content) + len(draft.title) + len(draft.url) + 200


NEW_RULE = "new: its address had not been on the list"
HELD_RULE = "held, and named in the notice `source_reset`: all of the list was new at once, as after a move"
_NAMED = 20
_OUTCOMES: dict[str, NoteOutcome] = {"baseline": "baseline", "unchanged": "churn", "news": "told", "reset": "held"}


def drafts_of(source: Source, result: ListLook, at: Millis) -> tuple[Draft, ...]:
    """Return the drafts from a check of a list, oldest first: lists have the newest on top."""
    notices = (_reset(source, result, at),) if result.say else ()
    empty = content_hash("")
    new = (
        Entry("", item.url, item.title, "", "", item.published_at, (), "", empty, simhash(item.title))
        for item in reversed(result.new)
    )
    return (*notices, *(draft_of(source, entry, NEW, at) for entry in new))


def note_of(result: ListLook, at: Millis, since: Millis | None) -> Note:
    outcome = _OUTCOMES[result.kind]
    if outcome == "baseline":
        return Note(at, outcome, result.reason, parts=(), counts={"entries": result.count})
    parts = [Part(item.title or item.url, NEW_RULE, item.url, told=True) for item in result.new]
    parts += [Part(item.title or item.url, HELD_RULE, item.url) for item in result.held]
    new = len(result.new)
    counts = {"entries": result.count, "new": new, "told": new, "held": len(result.held) + result.bulk}
    return Note(at, outcome, result.reason, since, parts=tuple(parts[:MOST_PARTS]), counts=counts)


def _reset(source: Source, result: ListLook, at: Millis) -> Draft:
    if result.bulk:
        says = (
            f"{result.bulk:,} addresses of the sitemap {source.watch_url} are new at once, too many to report one by "
            "one. Later items are reported as usual."
        )
    else:
        listed = "\n".join(f"{item.title or item.url} ({item.url})" for item in result.held[:_NAMED])
        says = (
            f"All {len(result.held)} items of {source.watch_url} are new at once, as after a move to another system. "
            f"They are not reported one by one; later items are reported as usual. The first of them:\n{listed}"
        )
    title = f"Most of a list is new at once: {source.called}"
    return notice_draft("source_reset", source.url, title, says, at, of_source=source.tags)
