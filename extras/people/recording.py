"""The activity of every change: who, which operation, which record, and the fields that differ.

The record before and after comes from the API's own GET, so it is masked as the API masks it. Addresses that are
credentials themselves (publications, bins) are left out, too. A change that its client abandons is recorded if the
record differs.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import trio
from msgspec import UNSET, json, structs
from werkzeug.datastructures import Headers

from actors.errors import DomainError
from api.application import Application
from api.dashboard.screen import Go, Screen, Visit
from api.keys import SCOPES
from api.problems import Refusal
from api.route import Answer, Call, Route
from storage.errors import StorageError
from storage.records.access import Activity, ApiKey, Person, Session
from storage.records.identity import Millis

WITHIN: Final = 5.0  # seconds for recording a change whose client has gone
LARGEST: Final = 32 << 10  # bytes of one side of a difference; a larger one is left out
MOST_TICKED: Final = 20  # sources of a form whose fields are compared
_NOISE: Final = {"revision", "updated_at", "updated_by"}
_CREDENTIALS: Final = {"/v1/publications/{id}": {"url", "feeds"}, "/v1/webhook-bins/{id}": {"url"}}
_RECEIVERS: Final = ("/v1/alerts/{id}", "/v1/destinations/{id}")
"""Records with addresses of receivers, which may have a secret in their path."""
_SECRET: Final = re.compile(r"secret|password|token|totp_secret|hashed")
NO_CHANGES: Final = frozenset(
    (
        *("POST /join", "POST /sign-in", "POST /sign-out", "POST /settings/wishes", "POST /sources/{id}/why"),
        *("POST /stream/read", "POST /stream/read/entries", "POST /mcp", "DELETE /mcp"),
        *("POST /v1/secrets/compare", "POST /v1/sources/detect"),
        *("POST /v1/sources/{id}/check", "POST /sources/{id}/check"),
        *("POST /v1/sources/{id}/preview", "POST /v1/sources/blocks", "POST /v1/sources/{id}/blocks"),
        *("POST /v1/alerts/preview", "POST /v1/destinations/preview", "POST /v1/templates/{template_id}/preview"),
    )
)
"""Operations that change nothing, or only the reader's own view, or record themselves."""
_NAMED: Final = ("ids", "act", "tag")  # fields that name the changed records in a form without an object in its path
KEY: Final = "/v1/keys/{id}"
_READER: Final = ApiKey("", "activity", "", "", tuple(SCOPES), Millis(0))
Record = dict[str, Any] | None
Difference = tuple[bytes | None, bytes | None]


class Recorder:
    """Runs changes and records them."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, of: Route | Screen, by: Call | Visit, act: Callable[[], Awaitable[Any]]) -> Any:
        if of.label in NO_CHANGES:
            return await act()
        path = self._object_of(of, by)
        before = await self._read(path) or await self._ticked(by)
        try:
            done = await act()
        except trio.Cancelled:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + WITHIN):
                if path and (after := await self._read(path)) != before:
                    await self._record(of, by, path, before, after)
            raise
        if isinstance(by, Call) or (isinstance(done, Go) and not done.bad):
            with trio.CancelScope(shield=True, deadline=trio.current_time() + WITHIN):
                await self._finished(of, by, path, before, done)
        return done

    async def _finished(self, of: Route | Screen, by: Call | Visit, path: str, before: Record, done: Any) -> None:
        after = await self._read(path) or await self._ticked(by)
        made = self._made_by(done)
        if made and made != path and (before == after or isinstance(done, Answer)):
            path, before, after = made, None, await self._read(made)
        await self._record(of, by, path, before, after)

    def _object_of(self, of: Route | Screen, by: Call | Visit) -> str:
        parts = of.path.removeprefix("/v1").split("/")
        last = max((place for place, part in enumerate(parts) if part.startswith("{")), default=0)
        if not last or any(part == "{secret}" for part in parts):
            return ""
        return "/v1/" + "/".join(parts[last - 1 : last + 1]).format_map(by.path)

    def _made_by(self, done: Any) -> str:
        if isinstance(done, Answer):
            path = done.headers.get("Location", "").removeprefix(self._app.base_url)
        else:
            path = done.made or f"/v1{done.to.partition('?')[0].partition('#')[0]}"
        return path if self._reading(path) is not None or path.startswith("/v1/keys/") else ""

    def _reading(self, path: str) -> tuple[Route, Mapping[str, str]] | None:
        section, _, id = path.removeprefix("/v1/").partition("/")
        if not id:
            return None
        for route in self._app.routes.values():
            start, _, name = route.path.rpartition("/")
            if route.method == "GET" and start == f"/v1/{section}" and name.startswith("{"):
                return (route, {name[1:-1]: id}) if "/" not in id or name == "{tag}" else None
        return None

    def _chosen(self, path: str, record: Record) -> Record:
        """Return the settings of a whole record that differ from the defaults of a request to make it."""
        end, routes = f"/{path.split('/')[2]}", self._app.routes.values()
        made = next(
            (route for route in routes if route.method == "POST" and route.path.endswith(end) and route.body), None
        )
        if record is None or made is None:
            return record
        plain = {field.encode_name: field.default for field in structs.fields(made.body[0])}
        return {name: one for name, one in record.items() if name in plain and one not in (None, "", [], plain[name])}

    async def _read(self, path: str) -> Record:
        """Return a record as the API shows it, without credentials; None if there is none."""
        if path.startswith("/v1/keys/"):
            return await self._key(path.rpartition("/")[2])
        found = self._reading(path) if path else None
        if found is None:
            return None
        route, names = found
        call = Call(
            context=self._app.context,
            streams=self._app.streams,
            path=names,
            query=route.query(),
            body=None,
            key=_READER,
            headers=Headers(),
            request_id="",
            limiter=self._app.limiter,
            address="",
            target=path,
        )
        try:
            shown = json.decode((await route.run(call)).encoded() or b"null")
        except (DomainError, Refusal, StorageError, trio.TooSlowError, ValueError):
            return None
        if not isinstance(shown, dict):
            return None
        shown = _plain(shown, _CREDENTIALS.get(route.path, set()))
        return _without_paths(shown) if route.path in _RECEIVERS else shown

    async def _ticked(self, by: Call | Visit) -> Record:
        """Return the sources that a form ticks as one record: the fields of each, with its address."""
        ticked = getattr(by.form, "source", ()) if isinstance(by, Visit) else ()
        ids = ticked[:MOST_TICKED] if isinstance(ticked, tuple) else ()
        found = [one for id in ids if (one := await self._read(f"/v1/sources/{id}"))]
        return {f"{one['url']} {name}": value for one in found for name, value in one.items()} or None

    async def _key(self, id: str) -> Record:
        for key in await self._app.context.storage.keys.all():
            if key.id == id:
                shown = ("name", "prefix", "scopes", "rate_per_minute", "burst", "person", "expires_at")
                return {name: getattr(key, name) for name in shown}
        return None

    async def _record(self, of: Route | Screen, by: Call | Visit, path: str, before: Record, after: Record) -> None:
        world = self._app.context.world
        if not path and isinstance(by, Visit):
            named = {name: value for name in _NAMED if (value := getattr(by.form, name, UNSET)) not in (UNSET, "", ())}
            after = named | (after or {})
        if path and (before is None or after is None):
            before, after = self._chosen(path, before), self._chosen(path, after)
        one = activity_of(by, of.label, path, difference(before, after))
        try:
            await self._app.context.storage.accounts.record(one)
        except StorageError as error:  # the change itself is done
            world.log("activity.lost", level="warning", operation=of.label, object=path, error=str(error))


def activity_of(by: Call | Visit, label: str, object: str, sides: Difference, person: Person | None = None) -> Activity:
    """Return the activity of a route or screen. person: who did it, if there is no session yet."""
    (id, name), (before, after) = author(by) if person is None else (person.id, person.name), sides
    new, at = by.context.world.new_id(), by.context.world.now()
    return Activity(id=new, at=at, person=id, by=name, operation=label, object=object, before=before, after=after)


def author(by: Call | Visit) -> tuple[str, str]:
    """Return the id of the person behind a change, "" for none, and the name to show."""
    if isinstance(by, Call):
        return ("", "") if by.key is None else (by.key.person, by.key.name)
    session: Session | None = by.session
    return (session.person, by.by) if session is not None else ("", getattr(by.form, "name", "") or "a link")


def difference(before: Record, after: Record) -> Difference:
    """Return the fields that differ, as JSON; None for a record that there is not.

    >>> difference({"a": 1, "b": 2}, {"a": 1, "b": 3})
    (b'{"b":2}', b'{"b":3}')
    >>> difference(None, {"a": 1}), difference({"a": 1}, {"a": 1})
    ((None, b'{"a":1}'), (None, None))
    """
    if before is not None and after is not None:
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        before, after = ({name: one[name] for name in names if name in one} or None for one in (before, after))
    return _bounded(before), _bounded(after)


def _bounded(record: Record) -> bytes | None:
    encoded = json.encode(record) if record else b""
    return encoded if 0 < len(encoded) <= LARGEST else None


def _plain(record: dict[str, Any], credentials: set[str]) -> dict[str, Any]:
    left_out = {*_NOISE, *credentials}
    return {name: value for name, value in record.items() if name not in left_out and not _SECRET.search(name)}


def _without_paths(value: Any) -> Any:
    """Cut each `url` of a record to its origin.

    >>> _without_paths({"url": "https://hooks.example/T1/s3cret", "tags": ["x"]})
    {'url': 'https://hooks.example/...', 'tags': ['x']}
    """
    if isinstance(value, list):
        return [_without_paths(one) for one in value]
    if not isinstance(value, dict):
        return value
    cut = {name: _without_paths(one) for name, one in value.items()}
    if isinstance(url := cut.get("url"), str) and "://" in url:
        scheme, _, rest = url.partition("://")
        cut["url"] = f"{scheme}://{rest.partition('/')[0].rpartition('@')[2]}/..."
    return cut


def recorder(app: Application) -> Recorder:
    return Recorder(app)
