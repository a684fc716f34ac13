"""Captures for people: verdicts as badges, the body as text, and the request as a shell command. Pure."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

import msgspec

from api.dashboard.language.speaking import say, say_many
from api.schemas.bins import Checked
from storage.records.bin import Capture

MOST = 6_000
"""Characters of a body to show, and to put into a command."""
_HOPS = frozenset(("host", "content-length", "connection", "transfer-encoding", "accept-encoding", "expect"))
"""Connection headers; curl makes its own."""
_NONE = frozenset(("not_checked", "no_signature"))


class Badge(NamedTuple):
    """A word and its mood, as `ui.badge` takes them, and the reason as a sentence."""

    words: str
    mood: str
    why: str


class Body(NamedTuple):
    """A body as text. says: why it is hidden or cut, else ""."""

    text: str
    says: str


def badge(check: Checked) -> Badge:
    if check.ok:
        return Badge(say("verified"), "good", check.why)
    if check.ok is None:
        return Badge(say("not checked"), "calm", check.why)
    return Badge(say("no signature") if check.cause in _NONE else say("does not hold"), "bad", check.why)


def shown(capture: Capture) -> Body:
    """Return a body for display: JSON indented, other text as it is, nothing for binary data."""
    if not capture.body:
        return Body("", say("There was no body."))
    try:
        text = capture.body.decode()
    except UnicodeDecodeError:
        return Body("", say("It is no text in UTF-8: download it to look at it."))
    cut = say("It is longer than what is kept of it.") if capture.truncated else ""
    if len(text) > MOST:
        return Body(text[:MOST], say("These are its first %(count)s characters; the download has all.", count=MOST))
    try:
        return Body(msgspec.json.format(text, indent=2), cut)
    except (msgspec.DecodeError, UnicodeError):
        return Body(text, cut)


class _Titled(msgspec.Struct):
    title: str = ""
    count: int = 0


_titled = msgspec.json.Decoder(_Titled).decode


def title(capture: Capture) -> str:
    """Return the title of a capture's event, or the size of its digest; "" for anything else.

    >>> from storage.records.identity import Millis
    >>> of = lambda body: Capture("1", Millis(0), "POST", "/bins/x", "", (), body, len(body))
    >>> title(of(b'{"title": "It costs 29"}')), title(of(b'{"count": 3}')), title(of(b"hello"))
    ('It costs 29', '3 events', '')
    """
    try:
        found = _titled(capture.body)
    except (msgspec.DecodeError, UnicodeError):
        return ""
    return found.title or (say_many("%(count)s event", "%(count)s events", found.count) if found.count else "")


def behind(capture: Capture) -> str:
    """Return the part of a request's target after its bin's address: path and query."""
    path = "/".join(capture.path.split("/")[3:])
    return (f"/{path}" if path else "") + (f"?{capture.query}" if capture.query else "")


def curl(address: str, capture: Capture) -> str:
    """Return the command that repeats a capture, or "" if its body is too long.

    >>> from storage.records.identity import Millis
    >>> one = Capture("1", Millis(0), "POST", "/bins/x/in", "a=1", (("host", "h"), ("x-note", "it's")), b"hi", 2)
    >>> print(curl("https://h/bins/x", one))
    curl -X POST 'https://h/bins/x/in?a=1' \\
      -H 'x-note: it'"'"'s' \\
      --data-binary hi
    """
    if capture.truncated or len(capture.body) > MOST:
        return ""
    lines = [f"curl -X {quote(capture.method)} {quote(address + behind(capture))}"]
    lines += [f"-H {quote(f'{name}: {value}')}" for name, value in capture.headers if name not in _HOPS]
    try:
        body = capture.body.decode()
    except UnicodeDecodeError:
        lines.append("--data-binary @-")
        return f"printf %s {quote(b64encode(capture.body).decode())} | base64 -d | " + _joined(lines)
    return _joined([*lines, f"--data-binary {quote(body)}"] if body else lines)


def _joined(lines: Sequence[str]) -> str:
    return " \\\n  ".join(lines)
