"""The client of Sanderling: `Client` and `AsyncClient`, streams that resume, typed problems, verification.

Records are in `sanderling_client.records`, the kinds of problems in `sanderling_client.refusals`. A name is imported
when it is first used: the service takes the checks of signatures from here, and loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sanderling_client.calling import Page
    from sanderling_client.client import AsyncClient, Client
    from sanderling_client.deliveries import receive
    from sanderling_client.problems import (
        AnswerError,
        ProblemError,
        SanderlingError,
        StreamLost,
        UnknownKey,
        Unverified,
    )
    from sanderling_client.received import Received
    from sanderling_client.stream import AsyncStream, Stream
    from sanderling_client.verify import verify_event, verify_webhook

__all__ = [
    "AnswerError",
    "AsyncClient",
    "AsyncStream",
    "Client",
    "Page",
    "ProblemError",
    "Received",
    "SanderlingError",
    "Stream",
    "StreamLost",
    "UnknownKey",
    "Unverified",
    "receive",
    "verify_event",
    "verify_webhook",
]
_MODULES = ("problems", "verify", "received", "calling", "stream", "client", "deliveries")
"""The modules of these names, in the order of their imports."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        for module in _MODULES if name in __all__ else ():
            if hasattr(found := import_module(f"{__name__}.{module}"), name):
                return getattr(found, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
