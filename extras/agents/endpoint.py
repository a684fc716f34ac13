"""`/mcp`: the Model Context Protocol over HTTP ("Streamable HTTP"). One message per request; notifications stream.

A session only names a client's subscriptions, in this process. An unknown session gets 404 where one is needed, and the
client starts a new one, as the protocol specifies. Everything else works without a session, at any node.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from api.problems import FieldError, Refusal, invalid
from api.route import Answer, Call, Routes
from api.streams.sse import MEDIA
from extras.agents import stateless
from extras.agents.protocol import VERSIONS, Session
from extras.agents.subscriptions import Subscriber, UpdateReader, subscribers_of
from extras.agents.tools import INSTRUCTIONS, Toolbox
from extras.agents.within import Service, Within
from storage.records.identity import Seq, seq_of
from storage.records.secrecy import plain

VERSION: Final = "MCP-Protocol-Version"
SESSION: Final = "Mcp-Session-Id"
REPLAY_FROM: Final = "Sanderling-Replay-From"
_LOCAL: Final = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")
_STREAMED: Final = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}

_Object = Annotated[dict[str, Any], Meta(max_length=1_000, extra_json_schema={"additionalProperties": {}})]
"""An object whose shape another protocol defines."""


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """A message of JSON-RPC 2.0: a request (`id`, `method`), a notification (no `id`), an answer (no `method`)."""

    jsonrpc: Literal["2.0"]
    method: Annotated[str, Meta(max_length=200, examples=["tools/call"])] | UnsetType = UNSET
    id: Annotated[str, Meta(max_length=200)] | Annotated[int, Meta(ge=-(2**53), le=2**53)] | UnsetType = UNSET
    params: _Object | UnsetType = UNSET
    result: _Object | UnsetType = UNSET
    error: _Object | UnsetType = UNSET


ROUTES = Routes("/mcp")


@ROUTES("POST", "", {200: dict[str, Any], 202: None}, scope="stream:read", body=(Message,), headers=(SESSION,))
async def answer(call: Call) -> Answer:
    """Use the service as an agent's tools."""
    _check_origin(call)
    assert call.app is not None and call.key is not None, "every request has them"
    message = msgspec.to_builtins(call.body)
    subscriber = subscribers_of(call.streams).of(call.headers.get(SESSION, ""), call.key.id)
    world = call.context.world
    within = Within(call.app, call.headers, call.address)
    service = Service(within.ask, world.now, lambda: world.new_id()[-8:], call.context.is_private)
    session = Session(Toolbox(service, subscriber), call.context.overseer.version, INSTRUCTIONS)
    if stateless.is_stateless(message, call.headers.getlist):
        status, answered = await stateless.answer(session, message, call.headers.getlist)
        return Answer(answered, status=status)
    _check(call)
    answered = await session.answer(message)
    if answered is None:
        return Answer(status=202)
    begins = message["method"] == "initialize" and "result" in answered
    return Answer(answered, headers=_begun(call, call.key.id) if begins else {})


def _begun(call: Call, key: str) -> dict[str, str]:
    session = call.context.world.new_id()
    subscribers_of(call.streams).begin(session, key, call.context.storage.tail.head)
    return {SESSION: session}


@ROUTES(
    "GET",
    "",
    {200: str},
    scope="stream:read",
    media="text/event-stream",
    headers=(REPLAY_FROM,),
    refuses=("not-found",),
)
async def stream(call: Call) -> Answer:
    """Follow changes of the resources that an agent subscribes to."""
    _check(call)
    subscriber = _subscriber(call)
    assert call.key is not None
    call.streams.check_room(call.key)
    storage, cursor = call.context.storage, _place(call, subscriber)
    reader = UpdateReader(storage.log, storage.tail, subscriber, cursor)
    return Answer(b"", media=MEDIA["sse"], headers=_STREAMED | {REPLAY_FROM: reader.replay_from}, stream=reader)


def _place(call: Call, subscriber: Subscriber) -> Seq:
    """Return the position that the client names, at most the head, or else its cursor."""
    last = call.headers.get("Last-Event-ID", "").strip()
    try:
        return min(seq_of(last), call.context.storage.tail.head) if last else subscriber.cursor
    except ValueError:
        raise invalid("header.Last-Event-ID", "not the id of a notification (a UUIDv7)", last[:40]) from None


@ROUTES("DELETE", "", {204: None}, scope="stream:read", refuses=("not-found",))
async def end(call: Call) -> Answer:
    """End an agent's session."""
    _check(call)
    _subscriber(call)
    subscribers_of(call.streams).end(call.headers[SESSION])
    return Answer(status=204)


def _subscriber(call: Call) -> Subscriber:
    session = call.headers.get(SESSION, "")
    if not session:
        says = f"Say the session in the header {SESSION}; the answer to `initialize` names it."
        raise Refusal("invalid-request", says, [FieldError(f"header.{SESSION}", says)])
    assert call.key is not None
    found = subscribers_of(call.streams).of(session, call.key.id)
    if found is None:
        raise Refusal("not-found", "This session has ended, or is not of this key: begin with `initialize`.")
    return found


def _check(call: Call) -> None:
    """Refuse unknown protocol versions and browser pages of other origins, as the protocol requires."""
    _check_origin(call)
    version = call.headers.get(VERSION, VERSIONS[0])
    if version not in VERSIONS:
        known = ", ".join((stateless.VERSION, *VERSIONS))
        says = f"The versions of the protocol are {known}, and not {version[:40]!r}."
        raise Refusal("invalid-request", says, [FieldError(f"header.{VERSION}", says, version[:40])])


def _check_origin(call: Call) -> None:
    settings, origin = call.context.settings, call.headers.get("Origin", "").lower()
    if origin and origin not in (*settings.cors_origins, settings.public_url()) and not _LOCAL.fullmatch(origin):
        says = f"Pages of {plain(origin)[:200]} may not use this; the setting cors_origins names those that may."
        raise Refusal("forbidden", says)
