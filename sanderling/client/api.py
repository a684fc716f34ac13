"""HTTP client for the command line: one service, one key, errors as sentences.

The key comes from a file or variable, never from a flag: everyone can see the flags of running processes. Health checks
run every few seconds, so what they import is only the standard library.
"""

from __future__ import annotations

import errno
import json
import os
import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from stat import S_ISSOCK
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx
import trio
from httpx_sse import EventSource, ServerSentEvent

from actors.setting_table import declared, with_values
from actors.settings import Setting, Settings
from api.problems import field_of, in_words, plainly, sentence
from sanderling import ADMIN_SOCKET
from sanderling.environment import environ, hinted, typed
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import loaded, told_folder
from storage.records.secrecy import plain

SOCKET_PATIENCE = 5.0
ANSWER_CAP = 65_536


class SocketConnection(HTTPConnection):
    """HTTP over the admin socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=SOCKET_PATIENCE)
        self._path = path

    def connect(self) -> None:
        """Raises OSError."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SOCKET_PATIENCE)
        self.sock.connect(str(self._path))


class Running(NamedTuple):
    """The service's public address, and one that works on its machine."""

    url: str
    local_url: str


def health(data: str, url: str | None) -> tuple[bool, str]:
    path = Path(data) / ADMIN_SOCKET
    try:
        return _readiness(_connection(url) if url else SocketConnection(path), urlsplit(url or "").path.rstrip("/"))
    except (OSError, HTTPException, ValueError) as error:
        return False, f"not reachable: {url or path}: {str(error) or type(error).__name__}"


def at_socket(folder: Path) -> tuple[bool, str] | None:
    """Return whether the service on a data folder is ready, with its message; None if nothing answers."""
    try:
        return _readiness(SocketConnection(folder / ADMIN_SOCKET), "")
    except (OSError, HTTPException, ValueError):
        return None


def settings_at(here: Settings) -> Settings | None:
    """Return a running service's settings with our own secrets; None if nothing answers."""
    try:
        told = _answer(here.data, "/v1/admin/settings")["settings"]
        theirs: dict[str, Any] = {name: told[name] for name in _open() if name in told}
        theirs |= {name: tuple(value) for name, value in theirs.items() if isinstance(value, list)}
        return with_values(here, **theirs)
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None


def unlike(here: Settings, there: Settings) -> list[str]:
    return [name for name, setting in _open().items() if setting.value(here) != setting.value(there)]


def _open() -> Mapping[str, Setting]:
    return {name: setting for name, setting in declared().items() if not setting.secret and name != "data"}


def running_at(folder: str) -> Running | None:
    """Return the addresses of the service on a data folder; None if nothing answers."""
    try:
        told = _answer(folder, "/v1/admin/overview")
        return Running(str(told["url"]), str(told["local_url"]))
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None


def _answer(folder: str, path: str) -> Any:
    connection = SocketConnection(Path(folder) / ADMIN_SOCKET)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read(ANSWER_CAP))
    finally:
        connection.close()


def _connection(url: str) -> HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandFailed(f"{url}: the service's address must begin with http:// or https://.", Exit.USAGE)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname, parts.port, timeout=SOCKET_PATIENCE)


def _readiness(connection: HTTPConnection, prefix: str) -> tuple[bool, str]:
    """Return readiness and its message. Raises OSError, HTTPException, ValueError."""
    try:
        connection.request("GET", f"{prefix}/readyz")
        answer = connection.getresponse()
        told = json.loads(answer.read(ANSWER_CAP))
    finally:
        connection.close()
    if answer.status == 200:
        return True, "; ".join(["ready", *map(str, told.get("warnings") or ())])
    faults = [f"{fault['location']}: {fault['message']}" for fault in told.get("errors") or ()]
    words = "; ".join(faults) or str(told.get("detail") or answer.status)
    return False, "not ready: " + "".join(sign if sign.isprintable() else "?" for sign in words)


DEFAULT_URL = "http://127.0.0.1:8080"
PATIENCE = httpx.Timeout(60.0, connect=10.0)
"""A stream without a byte for so many seconds counts as cut; the service sends a comment every 15."""
LONGEST_WAIT = 30.0
GIVES_UP: Final = 120.0  # seconds without a response until a retrying client gives up
LONGEST_RETRY: Final = 15.0  # maximum seconds between two tries of a retrying client
AGAIN: Final = (429, 502, 503, 504)
NO_KEY: Final = "That service needs an API key: set SANDERLING_KEY, or name the key's file with --key-file."
ADVICE: Final[Mapping[str, str]] = {
    "unauthorized": "Make a key where the service runs: `sanderling keys create --name me --scope ...`.",
    "forbidden": "`sanderling keys list` shows the scopes of each key.",
    "cursor-expired": "Leave out --since to begin now, or give --since earliest.",
    "library-full": "Delete a source, or raise the setting max_sources.",
    "body-too-large": "The setting request_limit raises it.",
}
"""Advice by problem type, appended to the service's message."""


class Client(AbstractAsyncContextManager["Client"]):
    """Talks to one service. key: None on the admin socket. called: its name in errors."""

    def __init__(
        self,
        url: str,
        key: str | None,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        called: str = "",
        absent: str = "",
    ) -> None:
        self.url = url.rstrip("/")
        self.called, self._absent = called or self.url, absent
        if not self.url.startswith(("http://", "https://")):
            raise CommandFailed(f"{url}: the service's address must begin with http:// or https://.", Exit.USAGE)
        headers, timeout = {} if key is None else {"Authorization": f"Bearer {key}"}, httpx.Timeout(30.0, connect=10.0)
        try:
            self._http = httpx.AsyncClient(base_url=self.url, headers=headers, timeout=timeout, transport=transport)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise CommandFailed(f"The service's address or the key is invalid: {error}.", Exit.USAGE) from None

    @classmethod
    def named(cls, url: str | None, key_file: str | None, variables: Mapping[str, str]) -> Client:
        """Raises CommandFailed (USAGE) without a key."""
        return cls(url or variables.get("SANDERLING_URL") or DEFAULT_URL, _key(key_file, variables))

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Make one request. Raises CommandFailed for a network error or a problem document."""
        try:
            answer = await self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        if answer.status_code >= 400:
            raise refused(answer, self.called)
        return answer

    async def every(self, path: str, filters: Mapping[str, str] | None = None) -> AsyncGenerator[dict[str, Any], None]:
        """Yield all items of a list in order, page by page. Close it (aclosing) if you stop early."""
        query: Any = filters or {}
        while True:
            answer = await self.ask("GET", path, params=query)
            for record in answer.json():
                yield record
            if "next" not in answer.links:
                return
            # Take only the query: the link has the public address, which may differ from the one in use.
            query = httpx.URL(answer.links["next"]["url"]).query

    async def listen(self, path: str, take: Callable[[ServerSentEvent], None], silence: float) -> None:
        """Pass each event of a stream to `take`, to its end or `silence` seconds. Raises CommandFailed if it is cut."""
        headers, patience = {"Accept": "text/event-stream"}, httpx.Timeout(silence, connect=10.0)
        try:
            async with self._http.stream("GET", path, headers=headers, timeout=patience) as answer:
                await _streams(answer, self.called)
                async for event in events_of(answer):
                    take(event)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None

    async def aclose(self) -> None:
        await self._http.aclose()

    async def follow(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        take: Callable[[ServerSentEvent], None],
        tell: Callable[[str], None] = lambda _sentence: None,
        *,
        cursor: Cursor | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Read a stream forever, pass each event to `take`, and resume after disconnects. tell: receives messages for
        the user. cursor: where to begin; keeps the last id. headers: added to each request. Raises CommandFailed if the
        first connection fails or the service refuses for good.
        """
        wait, tries, hint = 0.0, 0, 1.0
        cursor = Cursor() if cursor is None else cursor
        while True:
            try:
                async with self._open(path, query, cursor, headers or {}) as answer:
                    if tries:
                        tell("connected again")
                    tries, wait = tries + 1, 0.0
                    async for event in EventSource(answer).aiter_sse():
                        hint = hint if event.retry is None else max(0.0, event.retry / 1000)
                        if event.data:
                            take(event)
                            cursor.id = event.id or cursor.id
                why = "the service closed the stream"
            except CommandFailed as error:
                if not tries or error.code not in (Exit.TRY_AGAIN, Exit.UNREACHABLE):
                    raise
                why = error.message.partition(". ")[0]
            except httpx.HTTPError as error:
                why = str(error) or type(error).__name__
            wait = min(LONGEST_WAIT, max(wait * 2, hint))
            tell(f"disconnected ({why}); trying again in {wait:.0f} s")
            await trio.sleep(wait)

    @asynccontextmanager
    async def _open(
        self, path: str, query: Sequence[tuple[str, str]], cursor: Cursor, more: Mapping[str, str]
    ) -> AsyncIterator[httpx.Response]:
        """Open a stream after the cursor. Raises CommandFailed if it cannot open, httpx.HTTPError later."""
        headers = {**more, "Accept": "text/event-stream"} | ({"Last-Event-ID": cursor.id} if cursor.id else {})
        request = self._http.build_request("GET", path, params=list(query), headers=headers, timeout=PATIENCE)
        try:
            answer = await self._http.send(request, stream=True)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        try:
            await _streams(answer, self.called)
            # Keep the replay's start: a disconnect before the first event would leave a gap.
            cursor.id = cursor.id or answer.headers.get("Sanderling-Replay-From", "")
            yield answer
        finally:
            with trio.move_on_after(1, shield=True):
                await answer.aclose()

    def _unreachable(self, error: Exception) -> CommandFailed:
        why = str(error) or type(error).__name__
        if self._absent and any(f"Errno {number}]" in why for number in (errno.ENOENT, errno.ECONNREFUSED)):
            return CommandFailed(self._absent, Exit.UNREACHABLE)
        says = (
            f"{self.called} can't be reached: {_without_number(why)}. Does it run there? `sanderling serve` starts it."
        )
        return CommandFailed(says, Exit.UNREACHABLE)


def _without_number(words: str) -> str:
    """Remove the errno and Trio's wording for programmers from an error message.

    >>> _without_number("[Errno 13] Permission denied"), _without_number("All connection attempts failed")
    ('Permission denied', 'there is no answer')
    """
    if words == "All connection attempts failed":
        return "there is no answer"
    return re.sub(r"^\[Errno -?\d+\] (?:Error connecting to .*: )?", "", words)


async def events_of(answer: httpx.Response) -> AsyncIterator[ServerSentEvent]:
    """Yield a stream's events. The library also yields retry hints and ids without an event."""
    async for event in EventSource(answer).aiter_sse():
        if event.data:
            yield event


async def _streams(answer: httpx.Response, called: str) -> None:
    if answer.status_code >= 400:
        await answer.aread()
        raise refused(answer, called)
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
    if kind != "text/event-stream":
        raise CommandFailed(
            f"{called} answered {answer.status_code} with {kind or 'nothing'} instead of an event stream. "
            "Check the service's address.",
            Exit.FAILED,
        )


@dataclass(slots=True)
class Cursor:
    """The id of the last event taken; empty before the first."""

    id: str = ""


def client_here(url: str | None, key_file: str | None) -> Client:
    """Return a client for flags and variables, else for this machine's service, without a key. Raises CommandFailed."""
    variables = environ()
    keyed = key_file or (variables.get("SANDERLING_KEY") and told_folder() is None)
    if keyed and not (url or variables.get("SANDERLING_URL")):
        running = running_at(folder_here())
        url = None if running is None else running.local_url
        return Client.named(url, key_file, variables)
    return client_of(folder_here(), url, key_file, variables)


def folder_here(config: str | None = None) -> str:
    """Return the data folder of the flag, else of the settings. Raises CommandFailed."""
    return loaded(config, {"data": told_folder()}).settings.data


def client_of(data: str, url: str | None, key_file: str | None, variables: Mapping[str, str]) -> Client:
    """Return a client for a URL with a key, or for a folder's socket; `--data` overrides it. Raises CommandFailed."""
    if url or (variables.get("SANDERLING_URL") and told_folder() is None):
        return Client.named(url, key_file, variables)
    return client_at(Path(data))


def client_at(folder: Path) -> Client:
    """Return a client for the service on a data folder. Raises CommandFailed if the socket is not ours."""
    path = folder / ADMIN_SOCKET
    _refuse_strangers(path)
    absent = f"No service runs on the data folder {folder}. Start it: {typed('serve', str(folder))}"
    socket = httpx.AsyncHTTPTransport(uds=str(path), verify=False)  # no TLS here: reading certificates takes 100 ms
    return Client("http://localhost", None, socket, called=str(path), absent=absent)


def _refuse_strangers(path: Path) -> None:
    """Raise CommandFailed if the socket is not ours: requests may contain secrets."""
    try:
        found, folder = path.lstat(), path.parent.stat()
    except OSError:
        return  # missing or not accessible: connecting reports it
    if not S_ISSOCK(found.st_mode) or found.st_uid not in (0, os.geteuid(), folder.st_uid):
        raise CommandFailed(
            f"{path}: this is not the socket of your service. Delete it, and start the service again.", Exit.BAD_DATA
        )


def _key(key_file: str | None, variables: Mapping[str, str]) -> str:
    if key_file:
        try:
            words = Path(key_file).read_text("utf-8").split()
        except OSError as error:
            raise CommandFailed(f"Could not read {key_file}: {error.strerror}.", Exit.USAGE) from None
        except UnicodeDecodeError:
            raise CommandFailed(f"{key_file} contains no key: it is not a text file.", Exit.USAGE) from None
    else:
        words = variables.get("SANDERLING_KEY", "").split()
    if not words:
        raise CommandFailed(
            f"{NO_KEY} Where it runs, `{typed('keys create --name me --scope ...')}` makes one.", Exit.USAGE
        )
    return words[-1]


class ServiceRefused(CommandFailed):
    """The service answered with this error status and body. after: seconds until a new try may succeed."""

    def __init__(self, message: str, status: int, after: int = 0, body: bytes = b"") -> None:
        super().__init__(message, Exit.TRY_AGAIN if status in AGAIN else Exit.FAILED)
        self.status, self.after, self.body = status, after, body


def refused(answer: httpx.Response, called: str) -> ServiceRefused:
    status = answer.status_code
    try:
        problem = answer.json()
        slug = str(problem.get("type") or "").rpartition("/")[2]
        words = _faults(problem) or in_words(str(problem.get("detail") or problem.get("title") or ""))
    except (ValueError, AttributeError, TypeError):
        reason = f"{status} {answer.reason_phrase}".strip()
        return ServiceRefused(f"{called} answered {reason}, unlike Sanderling. Check the address.", status)
    advice = _advice(slug, words, answer)
    after = answer.headers.get("Retry-After", "")
    said = " ".join(part for part in (plain(words), advice) if part)
    return ServiceRefused(said, status, int(after) if after.isdecimal() else 0, answer.content)


def _faults(problem: Mapping[str, Any]) -> str:
    """Return the messages for invalid fields, each once; "" if the problem is about no field."""
    said = []
    for fault in problem.get("errors") or ():
        message = in_words(plainly(str(fault["message"])))
        field = field_of(location := str(fault["location"]))
        whole = field in ("", "url") or message == in_words(str(problem.get("detail")))
        if location.startswith("body.options."):
            said.append(f"--option {location.removeprefix('body.options.')}=...: {message}")
        else:
            said.append(message if whole else f"{sentence(field)[:-1]}: {message[:1].lower()}{message[1:]}")
    return " ".join(dict.fromkeys(said))


def _advice(slug: str, words: str, answer: httpx.Response) -> str:
    match slug:
        case "not-found":
            return "Is the address that of the service itself?" if words == "There is nothing at this path." else ""
        case "rate-limited" | "unavailable":
            seconds = answer.headers.get("Retry-After", "")
            return f"Try again in {seconds} s." if seconds.isdecimal() and "again in" not in words else ""
        case "internal":
            id = answer.headers.get("X-Request-Id", "")
            return f"The service's log says more, at request_id {plain(id)}." if id else ""
    return hinted(ADVICE.get(slug, ""))


def why_refused(error: CommandFailed) -> str:
    """Return the reason of a single refusal. Raises the error if it affects all requests: the key, or no service."""
    if error.code is not Exit.FAILED or status_of(error) in (401, 403):
        raise error
    return error.message


def status_of(error: CommandFailed) -> int:
    return error.status if isinstance(error, ServiceRefused) else 0


class WaitingClient:
    """A client that retries. It fails at once if it never connected: the address is probably wrong."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._met = False

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Retry until there is a response. Raises CommandFailed for a refusal, or after GIVES_UP seconds."""
        wait, until = 1.0, trio.current_time() + GIVES_UP
        while True:
            try:
                answer = await self._client.ask(method, path, **request)
            except CommandFailed as error:
                passing = error.code is Exit.TRY_AGAIN or (error.code is Exit.UNREACHABLE and self._met)
                if not passing or trio.current_time() + wait > until:
                    raise
            else:
                self._met = True
                return answer
            await trio.sleep(wait)
            wait = min(LONGEST_RETRY, wait * 2)
