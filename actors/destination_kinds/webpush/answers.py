"""The meaning of a push service's response (RFC 8030, 5 to 8; RFC 8292, 4.2). Pure."""

from __future__ import annotations

from typing import Final

from actors.destination_kinds.answer import Answer, Verdict, escaped
from actors.egress.posted import PostResult

_SHOWN: Final = 200
_GONE: Final = (
    "the device is told no more: its browser takes no notifications from here any more. Open Settings there to begin "
    "anew"
)
_NOT_US: Final = (
    "the push service does not know us by our key: the device was given another one, this machine's clock is "
    "wrong, or it wants to know whom to reach (the setting contact)"
)
_MEANINGS: Final[dict[int, tuple[Verdict | None, str]]] = {
    400: ("again", _NOT_US),
    401: ("again", _NOT_US),
    403: ("again", _NOT_US),
    404: ("revoked", _GONE),
    410: ("revoked", _GONE),
    413: ("refused", "the push service takes no message of this size"),
    429: ("slow", "the push service asks for fewer messages"),
}


def answer_of(posted: PostResult) -> Answer:
    """Return the outcome of a message: 201 means that the push service has it, not the device."""
    said, status = escaped(posted.body), posted.status
    answer = Answer(status, posted.latency_ms, retry_after=posted.retry_after, said=said)
    if answer.delivered:
        return answer
    verdict, what = _MEANINGS.get(status, (None, ""))
    error = ": ".join(filter(None, (what, f"HTTP {status} {said[:_SHOWN]}".rstrip())))
    return answer._replace(error=error, verdict=verdict)
