"""A screen as data, the visit that its function is given, and the replies that it may give.

As with `api.route.Route`, nothing is reachable that is not such a record. A screen that changes something is a POST
with a form; there is no other kind, and every form's token and Origin are checked before its function runs. So a
change without protection can't be written down.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from msgspec import Struct
from werkzeug.datastructures import Headers

from api.dashboard.forms import EMPTY, Draft, Form
from api.dashboard.hours import Hours
from api.dashboard.moments import Moment, Stamp, moment_of
from api.dashboard.preferences import NONE, Preferences
from api.dashboard.undoing import Undo, Undos
from api.pagination import next_path
from api.route import NoQuery
from storage.records.identity import Millis
from storage.records.session import Session

if TYPE_CHECKING:
    from actors.app_context import AppContext
    from api.dashboard.attempts import Attempts
    from api.operations.exports import OpenExport
    from api.ratelimit import Limiter
    from api.streams.reader import Reader
    from api.streams.streams import Streams

FORM_LIMIT = 64 << 10
"""Bytes of a form, unless its screen says otherwise."""


@dataclass(slots=True)
class Visit:
    """One request of a person that has passed the hooks.

    query, form: the structs that the screen declares, filled in. draft: what was typed, when it is shown again.
    session: None on the few screens for anyone. who: names the browser, for what is kept for its next page.
    token: what its forms carry. zone: the reader's. target: path and query, for links.
    hours: how many events each hour brought. undos: changes that can be taken back.
    preferences: how the reader wants the pages.
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
        """Who changes things, as records say it: there is one dashboard, and one password."""
        return "the dashboard"

    def may(self, scope: str) -> bool:
        """Return that a person may do everything."""
        return True

    def onward(self, cursor: str | None) -> str:
        """Return the path to the next page of the list that this page shows; "" at the end."""
        return "" if cursor is None else next_path(self.target, cursor)

    def moment(self, at: Stamp) -> Moment:
        """Return a moment (milliseconds, or RFC 3339) as the reader's clock shows it."""
        return moment_of(at, self.now, self.zone)


@dataclass(frozen=True, slots=True)
class Page:
    """A page: a template of `templates/`, and what it shows. title: of the window, before the product's name."""

    template: str
    title: str
    shows: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class Secret:
    """What is shown once, on the next page: its name in words, the text, and what to do with it."""

    name: str
    text: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class Go:
    """On to another page of ours (303), as after every change. says: told there, once. bad: it is no good news."""

    to: str
    says: str = ""
    bad: bool = False
    secret: Secret | None = None
    cookies: tuple[str, ...] = ()
    """Set-Cookie headers."""
    undo: Undo | None = None
    """What takes it back, offered there."""
    who: str = ""
    """Whose next page it is, when the cookies make that another session's."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file for the reader to keep; a browser never shows it in place."""

    name: str
    body: bytes
    media: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture that a page shows. headers: those with which nothing else can be made of it."""

    body: bytes
    media: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LiveStream:
    """A stream: fed by this reader until the client goes, or its session ends."""

    reader: Reader
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file that is written while it is read, however long; cut when its session ends."""

    opened: OpenExport


Reply = Page | Go | Download | Shown | LiveStream | ExportedFile
Run = Callable[[Visit], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One method of one path. `path` has `{name}` for its parameters, and no slash at its end.

    run: makes the reply. access: `session` for who has signed in; `anyone` for the way there; `link` where the
    path itself lets in, also a program that has no token.
    query: the struct of its parameters. form: that of a change (POST), a kind of Form.
    again: makes the page on which the form stands; shown with what was typed when the form or `run` refuses it. A form
    with fields must have it; a button may go without, and then a page of its own says what is wrong.
    limit: bytes of the form. live: it answers programs of ours, so who has no session gets 401 and no sign-in page.
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
        """Its method and path, which name it."""
        return f"{self.method} {self.path}"

    @property
    def section(self) -> str:
        """The first part of its path: `sources` of /sources/{id}."""
        return self.path.split("/")[1]
