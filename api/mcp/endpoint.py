"""`POST /mcp`: one message of the Model Context Protocol a request ("Streamable HTTP", without streams or sessions)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from api.mcp.protocol import VERSIONS, Session
from api.mcp.tools import INSTRUCTIONS, Service, Toolbox
from api.problems import FieldError, Refusal
from api.route import Answer, Call, Route

VERSION: Final = "MCP-Protocol-Version"


_Object = Annotated[dict[str, Any], Meta(max_length=1_000, extra_json_schema={"additionalProperties": {}})]
"""What another protocol says the shape of."""


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """A message of JSON-RPC 2.0: a request (`id`, `method`), a notification (no `id`), an answer (no `method`)."""

    jsonrpc: Literal["2.0"]
    method: Annotated[str, Meta(max_length=200, examples=["tools/call"])] | UnsetType = UNSET
    id: Annotated[str, Meta(max_length=200)] | Annotated[int, Meta(ge=-(2**53), le=2**53)] | UnsetType = UNSET
    params: _Object | UnsetType = UNSET
    result: _Object | UnsetType = UNSET
    error: _Object | UnsetType = UNSET


async def answer(call: Call) -> Answer:
    """Answer a request; take a notification."""
    version = call.headers.get(VERSION, VERSIONS[0])
    if version not in VERSIONS:
        says = f"The versions of the protocol are {', '.join(VERSIONS)}, and not {version[:40]!r}."
        raise Refusal("invalid-request", says, [FieldError(f"header.{VERSION}", says, version[:40])])
    assert call.within is not None, "every request has it"
    tools = Toolbox(Service(call.within.ask, call.context.world.now))
    session = Session(tools, call.context.overseer.version, INSTRUCTIONS)
    answered = await session.answer(msgspec.to_builtins(call.body))
    return Answer(status=202) if answered is None else Answer(answered)


ROUTES = (
    Route(
        method="POST",
        path="/mcp",
        scope="stream:read",
        run=answer,
        says="Use the service as tools of an agent.",
        answers={200: dict[str, Any], 202: None},
        body=(Message,),
    ),
)
