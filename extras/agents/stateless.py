"""The protocol from version 2026-07-28 on: no session, and each request names its version. Pure.

Headers repeat the method and the name of a tool, so that proxies need not read bodies; a request whose headers and body
differ is refused. Subscriptions need an earlier version.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from extras.agents.protocol import BAD_PARAMS, NO_METHOD, NO_RESOURCE, VERSIONS, Message, Session

VERSION: Final = "2026-07-28"
MISMATCH, UNSUPPORTED = -32020, -32022
_STATUS: Final = {BAD_PARAMS: 400, MISMATCH: 400, UNSUPPORTED: 400, NO_METHOD: 404}
_META: Final = "io.modelcontextprotocol/"
_PROTOCOL, _CAPABILITIES, _SERVER = f"{_META}protocolVersion", f"{_META}clientCapabilities", f"{_META}serverInfo"
_DISCOVER: Final = "server/discover"
_NAMED: Final = {"tools/call": "name", "resources/read": "uri"}
_LISTS: Final = (_DISCOVER, "tools/list", "resources/list", "resources/templates/list", "resources/read")
"""Methods whose results say how long a client may keep them."""
_METHODS: Final = (*_LISTS, "tools/call")

Values = Callable[[str], Sequence[str]]  # returns all values of a header


class _Wrong(NamedTuple):
    code: int
    says: str
    data: Any = None


def is_stateless(message: Message, values: Values) -> bool:
    """Return whether a message is of these versions, also of one that is not supported."""
    return VERSION in values("MCP-Protocol-Version") or _PROTOCOL in _meta(message)


def _meta(message: Message) -> Mapping[str, Any]:
    params = message.get("params")
    found = params.get("_meta") if isinstance(params, dict) else None
    return found if isinstance(found, dict) else {}


def _wrong(message: Message, values: Values) -> _Wrong | None:
    meta, method = _meta(message), str(message["method"])
    if missing := [key for key in (_PROTOCOL, _CAPABILITIES) if key not in meta]:
        return _Wrong(BAD_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    asked = meta[_PROTOCOL]
    if not isinstance(asked, str):
        return _Wrong(BAD_PARAMS, f"{_PROTOCOL} must be a text.")
    for name, value in repeated(message).items():
        if [_decoded(one) for one in values(name)] != [value]:
            return _Wrong(MISMATCH, f"The header {name} must say what the body says.")
    if asked != VERSION:
        return _Wrong(UNSUPPORTED, "Unsupported protocol version.", {"supported": [VERSION], "requested": asked})
    if method not in _METHODS:
        return _Wrong(NO_METHOD, f"There is no method {method[:80]}.")
    return None


def repeated(message: Message) -> Mapping[str, str]:
    version, method = _meta(message).get(_PROTOCOL), str(message.get("method"))
    if not isinstance(version, str):
        return {}
    found = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    return found | ({"Mcp-Name": str(message["params"].get(_NAMED[method]))} if method in _NAMED else {})


def encoded(value: str) -> str:
    plain = value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?")
    return value if plain else f"=?base64?{b64encode(value.encode()).decode()}?="


def _decoded(value: str) -> str | None:
    """Return the text of a header, which may be in base64; None if that is malformed."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[9:-2], validate=True).decode()
    except (Error, UnicodeDecodeError):
        return None


async def answer(session: Session, message: Message, values: Values) -> tuple[int, Message | None]:
    if "method" not in message or "id" not in message:
        return 202, None
    wrong = _wrong(message, values)
    if wrong is not None:
        error = {"code": wrong.code, "message": wrong.says} | ({} if wrong.data is None else {"data": wrong.data})
        return _STATUS[wrong.code], {"jsonrpc": "2.0", "id": message["id"], "error": error}
    method = message["method"]
    if method == _DISCOVER:
        result: Message = {"supportedVersions": [VERSION, *VERSIONS], "capabilities": {"tools": {}, "resources": {}}}
        answered: Message = {"jsonrpc": "2.0", "id": message["id"], "result": {**result, **session.instructions()}}
    else:
        answered = await session.answer(message) or {}
    if "error" in answered:
        error = answered["error"]
        error["code"] = BAD_PARAMS if error["code"] == NO_RESOURCE else error["code"]
        return _STATUS.get(error["code"], 200), answered
    kept = {"ttlMs": 0, "cacheScope": "private"} if method in _LISTS else {}
    answered["result"] |= {"resultType": "complete", "_meta": {_SERVER: session.server()}, **kept}
    return 200, answered
