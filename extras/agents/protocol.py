"""The Model Context Protocol as messages (JSON-RPC 2.0), without a network. Pure.

It supports the versions that begin with `initialize`; `stateless.py` adds the later one. A tool's refusal is a result
(`isError`), so that the model can read the reason. An invalid message or method is a protocol error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Those that begin with `initialize`, newest first. Clients that ask for another version get the newest."""
NO_METHOD, BAD_PARAMS, NO_RESOURCE = -32601, -32602, -32002

Message = dict[str, Any]


class Result(NamedTuple):
    """A tool's result: text for the model, and the same as data if available."""

    text: str
    data: Mapping[str, Any] | None = None


class Refused(Exception):
    """A tool refuses or fails. The message is for the model."""


class Unknown(Exception):
    """No such tool or resource."""


class Abilities(Protocol):
    """The tools and resources of a session."""

    def tools(self) -> Sequence[Mapping[str, Any]]: ...
    def templates(self) -> Sequence[Mapping[str, Any]]: ...
    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Use a tool. Raises Refused, Unknown."""
        ...

    def resources(self) -> Sequence[Mapping[str, Any]]: ...
    async def read(self, uri: str) -> str:
        """Return the text of a resource. Raises Refused, Unknown."""
        ...

    async def subscribe(self, uri: str) -> None: ...

    def unsubscribe(self, uri: str) -> None: ...


class _Bad(Exception):
    def __init__(self, code: int, says: str) -> None:
        super().__init__(says)
        self.code = code


class Session:
    """One client. version: of this program."""

    def __init__(self, abilities: Abilities, version: str, instructions: str) -> None:
        self._abilities, self._version, self._instructions = abilities, version, instructions

    async def answer(self, message: Message) -> Message | None:
        """Return the answer to a message, or None for notifications and for the client's own answers."""
        if "method" not in message or "id" not in message:
            return None
        try:
            return {"jsonrpc": "2.0", "id": message["id"], "result": await self._result(message)}
        except _Bad as bad:
            return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": bad.code, "message": str(bad)}}

    async def _result(self, message: Message) -> Mapping[str, Any]:
        method, params = str(message["method"]), message.get("params", {})
        match method:
            case "initialize":
                return self._initialize(params)
            case "ping":
                return {}
            case "tools/list":
                return {"tools": list(self._abilities.tools())}
            case "tools/call":
                return await self._call_tool(params)
            case "resources/list":
                return {"resources": list(self._abilities.resources())}
            case "resources/templates/list":
                return {"resourceTemplates": list(self._abilities.templates())}
            case "resources/read":
                return await self._read_resource(params)
            case "resources/subscribe":
                return await self._subscribe(params)
            case "resources/unsubscribe":
                return self._unsubscribe(params)
        raise _Bad(NO_METHOD, f"There is no method {method[:80]}.")

    def _initialize(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}, "resources": {"subscribe": True}},
            "serverInfo": self.server(),
            **self.instructions(),
        }

    def server(self) -> Mapping[str, Any]:
        return {"name": "sanderling", "title": "Sanderling", "version": self._version}

    def instructions(self) -> Mapping[str, Any]:
        return {"instructions": self._instructions}

    async def _call_tool(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise _Bad(BAD_PARAMS, "A call has a name, and arguments that are an object.")
        try:
            result = await self._abilities.call(name, arguments)
        except Unknown as error:
            raise _Bad(BAD_PARAMS, str(error)) from None
        except Refused as error:
            return {"content": [_text(str(error))], "isError": True}
        more = {} if result.data is None else {"structuredContent": dict(result.data)}
        return {"content": [_text(result.text)], **more}

    async def _read_resource(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        uri = _uri_of(params)
        try:
            text = await self._abilities.read(uri)
        except (Unknown, Refused) as error:
            raise _Bad(NO_RESOURCE, str(error)) from None
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}

    async def _subscribe(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            await self._abilities.subscribe(_uri_of(params))
        except Unknown as error:
            raise _Bad(NO_RESOURCE, str(error)) from None
        except Refused as error:
            raise _Bad(BAD_PARAMS, str(error)) from None
        return {}

    def _unsubscribe(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            self._abilities.unsubscribe(_uri_of(params))
        except Refused as error:
            raise _Bad(BAD_PARAMS, str(error)) from None
        return {}


def _uri_of(params: Mapping[str, Any]) -> str:
    return str(params.get("uri", ""))


def _text(text: str) -> Message:
    return {"type": "text", "text": text}
