"""The bins' addresses, for anyone without a key.

They are answered before Quart because a bin takes any method, interprets nothing (the sender's Authorization is not
ours) and truncates a long body instead of refusing it. It always answers `ok`, in a type that no browser runs. Our own
deliveries arrive within the process, since the guard would refuse our address. Signatures are checked when someone
opens a capture, so strangers cost little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

import trio

from actors.destination_kinds.bins import BODY, NOT_FOUND, PATH, Bins
from api.application import Application
from api.endpoint import WITHIN, Arrived, Endpoint, EndpointReply
from api.problems import Refusal
from api.ratelimit import counted

READ = 4 << 20  # bytes of a body to read; beyond that the connection closes
AT_ONCE = 64  # concurrent requests; with the bytes kept of each, 16 MiB
OF_ONE = 8  # concurrent requests from one address
OK = b"ok\n"


class BinEndpoint(Endpoint):
    """The application of the bins' addresses."""

    path, name = PATH, "bins"
    harmless: ClassVar[Mapping[str, str]] = {"content-security-policy": "sandbox; default-src 'none'"}

    def __init__(self, api: Application) -> None:
        super().__init__(api)
        self._bins = Bins(api.context.world, api.context.storage, api.base_url)
        self._open: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"<BinEndpoint {self._open.total()} of {AT_ONCE} requests under way>"

    async def reply(self, request: Arrived) -> EndpointReply:
        """Store one request and answer it. Raises Refusal, StorageError."""
        scope = request.scope
        path = scope["raw_path"].decode("latin-1")
        bin = await self._bins.find(path)
        if bin is None:
            raise Refusal("not-found", NOT_FOUND)
        with self._place(request.peer):
            body = _Body()
            with trio.move_on_after(WITHIN) as patience:
                await body.read(request)
            query = scope["query_string"].decode("latin-1")
            named = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
            whole = request.ended and not body.cut and len(body.kept) == body.size
            target = (scope["method"], path, query)
            if not await self._bins.capture(bin, target, named, bytes(body.kept), size=body.size, whole=whole):
                raise Refusal("not-found", NOT_FOUND)
        if patience.cancelled_caught:
            raise Refusal("request-timeout", f"The body did not arrive within {WITHIN:g} s. The received part is kept.")
        return EndpointReply(200, "text/plain; charset=utf-8", OK)

    @contextmanager
    def _place(self, peer: str) -> Iterator[None]:
        """Hold a slot for the request. Raises Refusal."""
        if self._open[peer] >= OF_ONE:
            raise Refusal("rate-limited", f"At most {OF_ONE} requests to bins at once.", headers={"Retry-After": "5"})
        if self._open.total() >= AT_ONCE:
            raise Refusal("unavailable", "The bins are busy.", headers={"Retry-After": "5"})
        with counted(self._open, peer):
            yield


class _Body:
    """A request's body as it arrives. kept: its beginning; cut: it broke off."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.size = 0
        self.cut = False

    async def read(self, request: Arrived) -> None:
        """Read until the end, the limit `READ`, or a disconnect."""
        while not request.ended and self.size < READ:
            piece = await request.next()
            if piece is None:
                self.cut = True
                return
            self.kept += piece[: BODY - len(self.kept)]
            self.size += len(piece)


def endpoints(api: Application) -> Sequence[Endpoint]:
    return (BinEndpoint(api),)
