"""Idempotency-Key: repeating a call that creates something creates nothing more.

The key is stored before its first call runs. The answer is stored for a day, encrypted under the API key and the
idempotency key, so the database alone reveals nothing. A repeat gets that answer. A call runs to its end even if its
client disconnects, because that is when clients repeat. After a crash or a storage failure, a repeat resumes under the
id chosen at first, so it finds the records that exist already. A call at another node resumes once that node is gone.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from hashlib import blake2b, sha256
from typing import Final

import msgspec
import trio
from msgspec import Struct
from nacl.secret import SecretBox

from actors.app_context import AppContext
from api.auth import credential
from api.problems import FieldError, Refusal, invalid, later
from api.refusals import refusal_of
from api.route import READS, Answer, Call, Recorder, Route, unrecorded
from storage.errors import StorageError
from storage.records.access import KEPT_CALL_LIFE as LIFE
from storage.records.access import KeptCall
from storage.records.identity import Millis

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = {"Idempotency-Replayed": "true"}
_NAME = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)
_WHERE = f"header.{HEADER}"


class _StoredAnswer(Struct, frozen=True):
    status: int
    media: str
    headers: dict[str, str]
    body: bytes


class _Errand:
    """One call that runs to its end, even without a waiting client."""

    def __init__(self, work: Callable[[], Awaitable[Answer]]) -> None:
        self._work = work
        self._done = trio.Event()
        self._answer: Answer | None = None
        self.error: Exception | None = None
        self.awaited = True

    async def run(self) -> None:
        try:
            self._answer = await self._work()
        except Exception as error:  # raised in the waiting task; without one, `Repeats` logs it
            self.error = error
        finally:
            self._done.set()

    async def outcome(self) -> Answer:
        try:
            await self._done.wait()
        finally:
            self.awaited = self._done.is_set()
        if self.error is not None:
            raise self.error
        if self._answer is None:
            raise later("unavailable", "The service is stopping.", 5)
        return self._answer


class Repeats:
    """The running calls that have a key, and access to finished ones."""

    def __init__(self, context: AppContext, recorder: Recorder = unrecorded) -> None:
        self._context, self._recorder = context, recorder
        self._running: dict[str, str] = {}
        self._nursery: trio.Nursery | None = None

    def __repr__(self) -> str:
        return f"<Repeats {len(self._running)} running>"

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Host these calls until cancelled. Cancelling cuts them off, as a crash would."""
        async with trio.open_nursery() as self._nursery:
            task_status.started()
            await trio.sleep_forever()

    async def answer(self, route: Route, call: Call, raw: bytes) -> Answer:
        """Answer a call, or repeat its answer. Raises Refusal: 400, 409 (still running), 422 (key of another call)."""
        if not route.repeatable or HEADER not in call.headers:
            return await self._run(route, call)
        name, *more = call.headers.getlist(HEADER)
        if more:
            raise invalid(_WHERE, "may be given once only", more[0])
        if not _NAME.fullmatch(name):
            raise invalid(_WHERE, "must be 1 to 255 visible ASCII characters, such as a UUID", name)
        assert call.key is not None
        key = sha256(msgspec.json.encode((call.key.id, name))).hexdigest()
        fingerprint = sha256(msgspec.json.encode((route.method, call.target, sha256(raw).hexdigest()))).hexdigest()
        if key in self._running:
            raise _still_running() if self._running[key] == fingerprint else _other_call()
        self._running[key] = fingerprint
        errand = _Errand(lambda: self._once(route, call, key, fingerprint, _box(call, name)))
        if self._nursery is None:
            await self._see_through(errand, key)
        else:
            self._nursery.start_soon(self._see_through, errand, key)
        return await errand.outcome()

    async def _run(self, route: Route, call: Call) -> Answer:
        if route.method in READS:
            return await route.answer(call)
        answer: Answer = await self._recorder(route, call, partial(route.answer, call))
        return answer

    async def _see_through(self, errand: _Errand, key: str) -> None:
        try:
            await errand.run()
        finally:
            del self._running[key]
        if errand.error is not None and not errand.awaited and refusal_of(errand.error) is None:
            said = f"{type(errand.error).__name__}: {errand.error}"[:500]
            self._context.world.log("http.fault", level="error", where="a repeatable call", error=said)

    async def _once(self, route: Route, call: Call, key: str, fingerprint: str, box: SecretBox) -> Answer:
        calls, now = self._context.storage.calls, self._context.world.now()
        ownership = self._context.storage.ownership
        ours = KeptCall(key, fingerprint, now, self._context.world.new_id(), node=ownership.me or "")
        first = await calls.begin(ours, Millis(now - LIFE), ownership.view.inside())
        if first.fingerprint != fingerprint:
            raise _other_call()
        if first.answer is not None:
            kept = msgspec.msgpack.decode(box.decrypt(first.answer), type=_StoredAnswer)
            return Answer(kept.body, kept.status, kept.media, kept.headers | REPLAYED)
        if first.node != ours.node:
            raise _still_running()  # at another node that still runs
        call.planned = first.id
        try:
            answer = await self._run(route, call)
        except Exception as error:
            refusal = refusal_of(error)
            with suppress(StorageError):  # the key stays taken until it expires; the first error says more
                if refusal is not None and refusal.status < 500:
                    await calls.forget(key)  # nothing was created: a corrected request may use the key
                else:
                    await calls.release(key)
            raise
        if not answer.settled:
            return answer
        kept = _StoredAnswer(answer.status, answer.media, answer.headers, answer.encoded())
        nonce = self._context.world.entropy(SecretBox.NONCE_SIZE)
        with suppress(StorageError):  # the call succeeded anyway; a repeat will find its result
            await calls.finish(key, bytes(box.encrypt(msgspec.msgpack.encode(kept), nonce)))
        return answer


def _box(call: Call, name: str) -> SecretBox:
    """Return the box that encrypts an answer. Its key needs two secrets of the caller and is stored nowhere."""
    asker = blake2b((credential(call.headers) or "").encode()).digest()
    return SecretBox(blake2b(name.encode(), key=asker, digest_size=SecretBox.KEY_SIZE, person=b"idempotency").digest())


def _still_running() -> Refusal:
    return later("conflict", "The first call with this Idempotency-Key is still running.", 1)


def _other_call() -> Refusal:
    says = "this key was used for another call within 24 hours: a new call needs a new key"
    return Refusal("unprocessable", f"{_WHERE}: {says}", [FieldError(_WHERE, says)])
