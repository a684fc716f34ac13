"""A screen as data, its function's visit, and the possible replies.

As with `api.route.Route`, only such records are reachable. A screen that changes anything is a POST with a form, whose
token and Origin are checked before its function runs. So a change without protection cannot be written down.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

import trio
from msgspec import Meta, Struct, defstruct
from werkzeug.datastructures import Headers

from actors.language.speaking import say
from api.dashboard.drawing import DisplayTime, Stamp, moment_of
from api.dashboard.forms import EMPTY, Draft, Form
from api.dashboard.sessions import NONE, Preferences
from api.pagination import next_path
from api.route import NoQuery
from storage.records.access import Session
from storage.records.identity import Millis, Seq, seq_at
from storage.sql.stores.log import EventLog

if TYPE_CHECKING:
    from actors.app_context import AppContext
    from api.dashboard.sessions import Attempts
    from api.nouns.events import OpenExport
    from api.ratelimit import Limiter
    from api.streams.reader import Reader
    from api.streams.streams import Streams

HOUR: Final = 3_600_000
MOST_HOURS: Final = 48


class Hours:
    """The hourly counts of one log."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._over: dict[int, int] = {}

    async def last(self, now: Millis, count: int = 24) -> Sequence[int]:
        """Return the events of the last `count` hours (UTC), the current one last."""
        present = now // HOUR
        found = [await self._of(hour, over=hour < present) for hour in range(present - count + 1, present + 1)]
        for hour in [hour for hour in self._over if hour <= present - MOST_HOURS]:
            del self._over[hour]
        return found

    async def _of(self, hour: int, *, over: bool) -> int:
        if hour in self._over:
            return self._over[hour]
        before = seq_at(Millis((hour + 1) * HOUR))
        count = await self._log.count_between(Seq(seq_at(Millis(hour * HOUR)) - 1), before)
        if over:
            self._over[hour] = count
        return count


MOST_UNDOS = 50  # changes of all browsers together; one may cover 10,000 sources
UNDO_MILLIS = 600_000


class Undo(NamedTuple):
    """The undo action for these sources."""

    act: Literal["restore", "resume"]
    ids: tuple[str, ...]


class Undos:
    """The newest undoable changes, by keys that work only in the same browser."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, Undo, int]] = OrderedDict()
        self._given = 0

    def __repr__(self) -> str:
        return f"<Undos of {len(self._kept)} changes>"

    def keep(self, who: str, undo: Undo, now: int) -> str:
        self._given += 1
        key = str(self._given)
        self._kept[key] = who, undo, now + UNDO_MILLIS
        if len(self._kept) > MOST_UNDOS:
            self._kept.popitem(last=False)
        return key

    def take(self, who: str, key: str, now: int) -> Undo | None:
        if key not in self._kept or self._kept[key][0] != who:
            return None
        _, undo, until = self._kept.pop(key)
        return undo if until > now else None


MOST_BROWSERS = 500
MOST_NOTES = 5
NOTE_SECONDS = 300.0


class Note(NamedTuple):
    """A sentence, a secret, or both. bad: an error. until: on Trio's clock. undo: the key of the undo action."""

    says: str
    bad: bool
    secret: Secret | None
    until: float
    undo: str = ""


class Notes:
    """The notes that no page has shown yet, by browser."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[Note]] = OrderedDict()

    def leave(self, who: str, says: str, *, bad: bool = False, secret: Secret | None = None, undo: str = "") -> None:
        notes = self._kept.setdefault(who, [])
        notes.append(Note(says, bad, secret, trio.current_time() + NOTE_SECONDS, undo))
        del notes[:-MOST_NOTES]
        self._kept.move_to_end(who)
        if len(self._kept) > MOST_BROWSERS:
            self._kept.popitem(last=False)

    def take(self, who: str) -> list[Note]:
        now = trio.current_time()
        return [note for note in self._kept.pop(who, []) if note.until > now]


_SECTIONS: Final = {
    "stream": ("", "stream", "events", "live", "rows", "more", "sign-out", "settings"),
    "sources": ("sources", "first-steps", "views"),
    "alerts": ("alerts", "destinations", "templates"),
    "bins": ("webhook-bins",),
    "publications": ("publications",),
    "admin": ("keys", "system"),
}
ROOMS: Final = {section: noun for noun, sections in _SECTIONS.items() for section in sections}
"""section: the noun whose scopes its screens need. `admin` is a scope; in `stream`, changes are the reader's own."""
FORM_LIMIT = 64 << 10  # bytes of a form, unless its screen sets another limit


@dataclass(slots=True)
class Visit:
    """A person's request that passed the hooks.

    query, form: the screen's structs. draft: the input, when the form is shown again.
    session: None on the few screens for anyone. who: the browser's name, for data that its next page needs.
    token: for its forms. zone: the reader's. target: path and query, for links.
    hours: events per hour. undos: changes that can be undone.
    preferences: the reader's display preferences.
    """

    context: AppContext
    streams: Streams
    limiter: Limiter
    attempts: Attempts
    screen: Screen
    path: Mapping[str, str]
    query: Any
    headers: Headers
    request_id: str
    address: str
    target: str
    session: Session | None
    who: str
    token: str
    zone: ZoneInfo
    now: Millis
    hours: Hours
    undos: Undos
    preferences: Preferences = NONE
    form: Any = None
    draft: Draft = EMPTY

    @property
    def by(self) -> str:
        """The author of changes in records: the person, or the dashboard's one owner."""
        return (self.session.name if self.session else "") or "the dashboard"

    def may(self, scope: str) -> bool:
        """Return whether the reader's role includes a scope. A visit by a secret link has no role."""
        return self.session is None or self.session.may(scope)

    def onward(self, cursor: str | None) -> str:
        return "" if cursor is None else next_path(self.target, cursor)

    def moment(self, at: Stamp) -> DisplayTime:
        return moment_of(at, self.now, self.zone)


@dataclass(frozen=True, slots=True)
class Page:
    """A page: a template in `templates/`, and its values. title: of the window, before the product's name."""

    template: str
    title: str
    shows: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    cookies: tuple[str, ...] = ()
    """Set-Cookie headers."""


class Secret(NamedTuple):
    """A secret to show once, on the next page: its name, the text, and how to use it."""

    name: str
    text: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class Go:
    """Redirect to another page of ours (303), as after every change. says: shown there once. bad: an error."""

    to: str
    says: str = ""
    bad: bool = False
    secret: Secret | None = None
    cookies: tuple[str, ...] = ()
    """Set-Cookie headers."""
    undo: Undo | None = None
    who: str = ""
    """The browser's name on the next page, if the cookies start another session."""
    made: str = ""
    """The path in the API of a record that it made, if that is not the page."""


class Download(NamedTuple):
    """A file for the reader to save; browsers never display it."""

    name: str
    body: bytes
    media: str = "application/octet-stream"


class PictureAnswer(NamedTuple):
    """A picture within a page. headers: prevent any other use."""

    body: bytes
    media: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LiveStream:
    """A stream. This reader feeds it until the client disconnects or its session ends."""

    reader: Reader
    headers: Mapping[str, str] = field(default_factory=dict)


class ExportedFile(NamedTuple):
    """A file of any length, written while it is read; cut when its session ends."""

    opened: OpenExport


Reply = Page | Go | Download | PictureAnswer | LiveStream | ExportedFile
Run = Callable[[Visit], Awaitable[Reply]]
Panel = Callable[[Visit], Awaitable[Page]]  # makes a part of another page; its template finds the values in `shown`


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One method of one path. `path` has `{name}` for its parameters, and no trailing slash.

    run: makes the reply. access: `session` for signed-in people; `anyone` for signing in; `link` if the path itself
    is the credential, also for a program without a token.
    scope: that the reader's role must have; "": as its section (ROOMS) says.
    query: the struct of its parameters. form: that of a change (POST), a kind of Form.
    again: makes the page with the form, to show the input again if the form or `run` refuses it. Forms with fields
    must have it; a button may do without, and its errors get a separate page.
    limit: bytes of the form. live: for programs of ours; without a session they get 401 and no sign-in page.
    open_query: ignore unknown parameters, because another service writes the address (RFC 6749, 4.1.2).
    """

    method: Literal["GET", "POST"] = "GET"
    path: str
    run: Run
    access: Literal["session", "anyone", "link"] = "session"
    query: type[Struct] = NoQuery
    form: type[Form] | None = None
    again: Run | None = None
    limit: int = FORM_LIMIT
    live: bool = False
    scope: str = ""
    open_query: bool = False

    def __post_init__(self) -> None:
        if (self.method == "POST") != (self.form is not None):
            raise ValueError(f"{self.label}: a change is a POST with a form, and only a POST has one")
        if self.form is not None and not issubclass(self.form, Form):
            raise ValueError(f"{self.label}: its form must be a kind of Form")
        if self.form is not None and self.form.__struct_fields__ and self.again is None:
            raise ValueError(f"{self.label}: a form with fields names the page on which it stands again")
        if self.path.startswith("/bins/") or (self.path != "/" and self.path.endswith("/")):
            raise ValueError(f"{self.label}: /bins/ belongs to strangers, and no path ends with a slash")

    @property
    def label(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def needs(self) -> str:
        room = ROOMS.get(self.section, "admin")
        reads = self.method == "GET" or room == "stream"
        return self.scope or (room if room == "admin" else f"{room}:{'read' if reads else 'write'}")

    @property
    def section(self) -> str:
        return self.path.split("/")[1]


def post(path: str, run: Run, form: type[Form], again: Run | None = None, **more: Any) -> Screen:
    return Screen(method="POST", path=path, run=run, form=form, again=again, **more)


def act(to: str, says: str, change: Callable[..., Awaitable[object]], *given: object, **more: object) -> Run:
    """Return the function of a button that changes one record. to: the next page; `{id}` is the record's id."""

    async def run(visit: Visit) -> Go:
        await change(visit, visit.path["id"], *given, **more)
        return Go(to.format(**visit.path), say(says))

    return run


def texts(**most: int) -> type[Struct]:
    """Return a query of optional texts. most: the longest of each, in characters."""
    fields = [(name, Annotated[str, Meta(max_length=length)], "") for name, length in most.items()]
    return defstruct("Texts", fields, frozen=True, forbid_unknown_fields=True)


def buttons(path: str, again: Run, **runs: Run) -> Iterator[Screen]:
    return (post(f"{path}/{name}", run, Form, again) for name, run in runs.items())
