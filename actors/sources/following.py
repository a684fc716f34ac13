"""Sources that follow: each new item is reported once, with the text of its page, which is fetched once. Pure.

A check stores a new item here in the transaction that marks it as seen. Its event is committed together with the
memory that no longer has it waiting. So a crash at any point neither loses nor repeats it. `polling/item_pages.py`
fetches and reads the pages.

Each page gets three attempts: at once, after one minute and after ten; a permanent refusal (404, robots.txt, a login)
gets one. Then the item is reported as the list has it, with the reason (`unread`). So are items that arrive while too
many wait, and items on a host that is neither of the source's own site nor named by the user.

Its own site is the list's host with its subdomains and parent domains. A named host includes its subdomains; `*` means
all. Other hosts get neither the user's headers nor cookies. They are fetched as any host is: by their own robots.txt,
at their own pace and with their own breaks.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.messages.readings import Entry
from actors.content.messages.requests import ListLook, item_form
from actors.content.wording.fingerprint import content_hash, simhash
from actors.egress.url import read_host
from actors.notices import draft as notice_draft
from actors.sources.checks.drafts import draft_of
from storage.records.event import NEW, UPDATED, Draft
from storage.records.identity import Millis
from storage.records.source import Source
from storage.records.trail import MOST_PARTS, Came, Note, Part

ALL: Final = "*"
MOST_OF_HOST: Final = 20
"""Waiting pages of one other host: a list that links to a single host is no reason to read all of it."""
MOST_ELSEWHERE: Final = 50
"""Waiting pages of all other hosts together."""
_NAMED_HOSTS: Final = 3
"""Hosts that a sentence names."""


def read_hosts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return normalized hosts, each once. Raises UrlRefused.

    >>> read_hosts(("www.News.example", "*", "*.news.example."))
    ('news.example', '*')
    """
    return tuple(dict.fromkeys(text if text == ALL else _read(text) for text in texts))


def _read(text: str) -> str:
    return read_host(text.removeprefix("*.")).removeprefix("www.")


def host_of(url: str) -> str:
    """Return a URL's host without "www."; "" without one."""
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
    return bool(host) and any(one in (ALL, host) or ("." in one and host.endswith(f".{one}")) for one in named)


def in_words(fetched: Sequence[str], left: Sequence[str]) -> str:
    """Return a sentence on new items with pages on other hosts, or ""."""
    return "".join(
        f" {len(hosts)} of them {'is' if len(hosts) == 1 else 'are'} on {_listed(hosts)}: {says}."
        for hosts, says in ((fetched, "fetched, too"), (left, "not fetched"))
        if hosts
    )


def _listed(hosts: Sequence[str]) -> str:
    names = list(dict.fromkeys(hosts))
    more = f" and {len(names) - _NAMED_HOSTS} more" if len(names) > _NAMED_HOSTS else ""
    return (
        f"another host ({', '.join(names[:_NAMED_HOSTS])}{more})"
        if len(names) == 1
        else (f"other hosts ({', '.join(names[:_NAMED_HOSTS])}{more})")
    )


def _is_same_site(one: str, other: str) -> bool:
    """Return whether two hosts are equal, or one is a subdomain of the other.

    >>> _is_same_site("blog.a.example", "a.example"), _is_same_site("a.example", "b.example")
    (True, False)
    """
    return bool(one) and (one == other or one.endswith(f".{other}") or other.endswith(f".{one}"))


MOST_WAITING = 200
MOST_BYTES = 256 * 1024
"""For the texts of all waiting items."""
ENOUGH = 16 * 1024
"""Characters of an entry that already has its whole text, so its page is not fetched."""
RETRIES = (60.0, 600.0)
"""Seconds before each retry of a page."""
PATIENCE = 24 * 3600.0
"""Seconds until an item is reported without its page, whatever the delay: a resting host, a budget."""
HOUR = 3_600_000
FILE_AGAIN = 3600.0
"""Seconds before a retry of a file of a sitemap's index, and before the next file's turn."""
_MOST_RAW = 8 << 20


class WaitingItem(Struct, frozen=True, array_like=True):
    """An item from its list, or a file of a sitemap's index (`file`, no draft). tries: failed attempts."""

    draft: Draft | None
    since: Millis
    due: Millis
    tries: int = 0
    file: str = ""

    @property
    def url(self) -> str:
        return self.file or (self.draft.url if self.draft is not None else "")


class FollowQueue(Struct, frozen=True, array_like=True):
    """Waiting items in the order of reporting, and the pages fetched in the hour that began at `hour`."""

    waiting: tuple[WaitingItem, ...] = ()
    hour: Millis = Millis(0)
    made: int = 0


class FollowResult(Struct, frozen=True):
    """The result of a check: drafts to report at once, and the items that now wait.

    elsewhere, left: other hosts of new items; the pages of the former will be fetched, those of the latter not.
    """

    told: tuple[Draft, ...]
    following: FollowQueue
    elsewhere: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def packed(following: FollowQueue) -> bytes:
    """Return the stored form; b"" when no item waits and no page was fetched."""
    if not following.waiting and not following.made:
        return b""
    return zlib.compress(msgspec.msgpack.encode(following), 6)


def unpacked(stored: bytes) -> FollowQueue:
    """Return the waiting items; none if the bytes are damaged or of another version."""
    if not stored:
        return FollowQueue()
    try:
        return msgspec.msgpack.decode(zlib.decompressobj().decompress(stored, _MOST_RAW), type=FollowQueue)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError):
        return FollowQueue()


def found(
    following: FollowQueue, source: Source, drafts: Sequence[Draft], now: Millis, files: Iterable[str] = ()
) -> FollowResult:
    """Sort a check's drafts: if the source follows, new items wait for their pages."""
    if source.follow == "none":
        ended = (
            replace(one.draft, unread="The source no longer follows links.") for one in following.waiting if one.draft
        )
        return FollowResult((*ended, *drafts), FollowQueue())
    if not following.waiting and now >= following.hour + HOUR:
        following = FollowQueue()
    told: list[Draft] = []
    elsewhere: list[str] = []
    left: list[str] = []
    waiting, room = (
        list(following.waiting),
        MOST_BYTES - sum(_size(one.draft) for one in following.waiting if one.draft),
    )
    for draft in drafts:
        place = _edited(waiting, draft)
        if place is not None:
            tags = tuple(NEW if tag == UPDATED else tag for tag in draft.tags)
            waiting[place] = replace(waiting[place], draft=replace(draft, tags=tags))
            continue
        is_item = NEW in draft.tags and draft.alert_type is None and not draft.practice and len(draft.content) < ENOUGH
        why = _not_fetched(source, draft, waiting, room) if is_item else "-"
        if why != "-" and draft.url and not is_own(source, host := host_of(draft.url)):
            (left if why else elsewhere).append(host)
        if why:
            told.append(draft if why == "-" else replace(draft, unread=why))
        else:
            room -= _size(draft)
            waiting.append(WaitingItem(draft, now, now))
    known = {one.file for one in waiting}
    waiting += [WaitingItem(None, now, now, file=file) for file in files if file not in known]
    return FollowResult(tuple(told), replace(following, waiting=tuple(waiting)), tuple(elsewhere), tuple(left))


def due_at(following: FollowQueue, per_hour: int) -> Millis | None:
    """Return when to fetch the next page; None when no item waits."""
    if not following.waiting:
        return None
    due = min(one.due for one in following.waiting)
    return Millis(max(due, following.hour + HOUR)) if following.made >= per_hour else due


def next_of(following: FollowQueue, now: Millis) -> WaitingItem | None:
    ready = [one for one in following.waiting if one.due <= now]
    return min(ready, key=lambda one: (not one.file, one.due), default=None)


def spent(following: FollowQueue, now: Millis) -> FollowQueue:
    if not following.hour <= now < following.hour + HOUR:
        return replace(following, hour=now, made=1)
    return replace(following, made=following.made + 1)


def without(following: FollowQueue, done: WaitingItem) -> FollowQueue:
    return replace(following, waiting=tuple(one for one in following.waiting if one != done))


def tried(following: FollowQueue, one: WaitingItem, now: Millis) -> FollowQueue:
    wait = FILE_AGAIN if one.file else RETRIES[min(one.tries, len(RETRIES) - 1)]
    later = replace(one, tries=one.tries + 1, due=Millis(now + round(1000 * wait)))
    return replace(following, waiting=tuple(later if each == one else each for each in following.waiting))


def with_turn(following: FollowQueue, file: str, now: Millis) -> FollowQueue:
    if not file or any(one.file == file for one in following.waiting):
        return following
    turn = WaitingItem(None, now, Millis(now + round(1000 * FILE_AGAIN)), file=file)
    return replace(following, waiting=(*following.waiting, turn))


def rested(following: FollowQueue, one: WaitingItem, now: Millis, wait: float) -> FollowQueue:
    """Return the state while one item's host rests; items on other hosts do not wait."""
    due, host = Millis(now + round(1000 * wait)), host_of(one.url)
    later = (replace(each, due=max(each.due, due)) if host_of(each.url) == host else each for each in following.waiting)
    return replace(following, waiting=tuple(later))


def is_elsewhere(source: Source, one: WaitingItem) -> bool:
    return not one.file and not is_own(source, host_of(one.url))


def gives_up(one: WaitingItem, now: Millis, *, for_good: bool) -> bool:
    """Return whether to report an item without its page. for_good: a retry is pointless."""
    return for_good or one.tries >= len(RETRIES) or is_late(one, now)


def is_late(one: WaitingItem, now: Millis) -> bool:
    return one.draft is not None and now - one.since >= 1000 * PATIENCE


def _not_fetched(source: Source, draft: Draft, waiting: Sequence[WaitingItem], room: int) -> str:
    """Return why an item's page is not fetched, or ""."""
    host, count = host_of(draft.url), len(waiting)
    if not draft.url or item_form(draft.url) in {item_form(source.watch_url), item_form(source.url)}:
        return "It has no page of its own."
    if not is_own(source, host):
        if not is_named(host, source.follow_hosts):
            return f"Its page is on another host, {host}, which is not fetched."
        others = [host_of(one.url) for one in waiting if is_elsewhere(source, one)]
        if len(others) >= MOST_ELSEWHERE or others.count(host) >= MOST_OF_HOST:
            return f"Too many new items on {'other hosts' if others.count(host) < MOST_OF_HOST else host} wait already."
    if count >= MOST_WAITING or room < _size(draft):
        return f"Too many new items wait for their pages already ({count})."
    return ""


def _edited(waiting: Sequence[WaitingItem], draft: Draft) -> int | None:
    if UPDATED not in draft.tags or not draft.url:
        return None
    return next((n for n, one in enumerate(waiting) if one.draft is not None and one.draft.url == draft.url), None)


def _size(draft: Draft) -> int:
    return len(draft.content) + len(draft.title) + len(draft.url) + 200


NEW_ITEM = "new: its address had not been on the list"
HELD_ITEM = "held, and named in the notice `source_reset`: all of the list was new at once, as after a move"
_NAMED = 20
"""Items that a notice names."""
_CAME: dict[str, Came] = {"baseline": "baseline", "unchanged": "churn", "news": "told", "reset": "held"}


def drafts_of(source: Source, look: ListLook, at: Millis) -> tuple[Draft, ...]:
    """Return the drafts from a check of a list, oldest first: lists have the newest on top."""
    said = (_reset(source, look, at),) if look.say else ()
    empty = content_hash("")
    new = (
        Entry("", item.url, item.title, "", "", item.published_at, (), "", empty, simhash(item.title))
        for item in reversed(look.new)
    )
    return (*said, *(draft_of(source, entry, NEW, at) for entry in new))


def note_of(look: ListLook, at: Millis, since: Millis | None) -> Note:
    """Return the note on a check of a list: the number of items, and the new ones."""
    came = _CAME[look.kind]
    if came == "baseline":
        return Note(at, came, look.reason, parts=(), counts={"entries": look.count})
    parts = [Part(item.title or item.url, NEW_ITEM, item.url, told=True) for item in look.new]
    parts += [Part(item.title or item.url, HELD_ITEM, item.url) for item in look.held]
    counts = {"entries": look.count, "new": len(look.new), "told": len(look.new), "held": len(look.held) + look.bulk}
    return Note(at, came, look.reason, since, parts=tuple(parts[:MOST_PARTS]), counts=counts)


def _reset(source: Source, look: ListLook, at: Millis) -> Draft:
    if look.bulk:
        says = (
            f"{look.bulk:,} addresses of the sitemap {source.watch_url} are new at once, too many to report one by "
            "one. Later items are reported as usual."
        )
    else:
        named = "\n".join(f"{item.title or item.url} ({item.url})" for item in look.held[:_NAMED])
        says = (
            f"All {len(look.held)} items of {source.watch_url} are new at once, as after a move to another system. "
            f"They are not reported one by one; later items are reported as usual. The first of them:\n{named}"
        )
    title = f"Most of a list is new at once: {source.called}"
    return notice_draft("source_reset", source.url, title, says, at, of_source=source.tags)
