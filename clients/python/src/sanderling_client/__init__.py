"""The client of Sanderling: `Client` and `AsyncClient`, streams that resume, typed problems, verification.

Records are in `sanderling_client.records`, the kinds of problems in `sanderling_client.refusals`.
"""

from sanderling_client.calling import Page
from sanderling_client.client import AsyncClient, Client
from sanderling_client.problems import AnswerError, ProblemError, SanderlingError, StreamLost, UnknownKey, Unverified
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
    "verify_event",
    "verify_webhook",
]
