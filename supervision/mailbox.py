"""A bounded mailbox that outlives its reader, and questions with a one-shot answer.

A mailbox belongs to the code that composes the tree, not to the actor: producers and the consumer only borrow it and
cannot close it. So a consumer that crashes and comes back finds all messages that it had not taken, no sender sees a
broken channel, and no producer can close it for another. Inside is a Trio memory channel, whose sending and receiving
are all-or-nothing under cancellation.

A crash loses the message that was taken and not finished. So messages are commands and wake-ups; data that must not be
lost uses a cursor over durable storage. The sender of a *question* is notified: by `with reply:` in the consumer, and,
if the consumer's ChildSpec names the mailbox, by its supervisor at the end of each life.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import trio

from supervision.errors import Unanswered
from supervision.sleeper import Sleeper

T = TypeVar("T")
R = TypeVar("R")


class MailboxFull(trio.WouldBlock):
    """The mailbox holds as many messages as its bound allows."""


@dataclass(frozen=True, slots=True)
class MailboxStatistics:
    """depth: waiting messages, up to `bound`. sent, received: since creation. full: how often sends found it full."""

    name: str
    depth: int
    bound: int
    sent: int
    received: int
    full: int


class Reply(Generic[R]):
    """The slot for one answer. The first outcome wins; later ones, and those for an asker that has left, do nothing.
    `with reply:` around the handling guarantees an outcome: leaving it without one fails the question with Unanswered.
    """

    __slots__ = ("_answered", "_error", "_scope", "_value", "_work", "abandoned", "taken")

    def __init__(self) -> None:
        self._answered = trio.Event()
        self._value: R | None = None
        self._error: Exception | None = None
        self._scope = trio.CancelScope()
        self._work: trio.CancelScope | None = None
        self.taken = False
        """Whether the consumer has received the question."""
        self.abandoned = False
        """Whether the asker has left, so that an expensive answer can be skipped."""

    def answer(self, value: R) -> None:
        """Give the answer. Never waits, never raises."""
        if not self._answered.is_set():
            self._value = value
            self._answered.set()

    def fail(self, error: Exception) -> None:
        """Make `ask` raise this in the asker. Never waits, never raises."""
        if not self._answered.is_set():
            self._error = error
            self._answered.set()
            self._scope.cancel()

    @contextmanager
    def while_awaited(self) -> Iterator[None]:
        """Cancel the work in this block when the asker leaves, or at once if it has left."""
        with trio.CancelScope() as self._work:
            if self.abandoned:
                self._work.cancel()
            yield

    async def commit(self) -> None:
        """Let the work of `while_awaited` run to its end, even if its asker leaves; it ends here if it has left."""
        await trio.lowlevel.checkpoint_if_cancelled()
        self._work = None

    def abandon(self) -> None:
        """Record that the asker no longer waits for the answer."""
        self.abandoned = True
        if self._work is not None:
            self._work.cancel()

    @property
    def settled(self) -> bool:
        return self._answered.is_set()

    def __enter__(self) -> Reply[R]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        if not self.settled:
            why = "without an answer" if kind is None else f"by {kind.__name__}"
            self.fail(Unanswered(f"the question was left {why}"))

    def __repr__(self) -> str:
        state = "settled" if self.settled else "gone" if self.abandoned else "taken" if self.taken else "waiting"
        return f"<Reply {state}>"

    async def _outcome(self) -> R:
        await self._answered.wait()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # settled without an error: the value was given, maybe None


class _Question(NamedTuple):
    """A message with its reply slot, so that the mailbox knows which answers are owed."""

    message: Any
    reply: Reply[Any]


class Mailbox(Generic[T]):
    """A queue of at most `bound` messages for one consumer. If it is full, `send` waits and `send_nowait` raises. Made
    anywhere, used in any task of one Trio run. Its channel (2 KB) is made with the first message.
    """

    __slots__ = (
        "_first", "_full", "_has_no_reader", "_questions", "_receive", "_received", "_send", "_sent", "_sleeper",
        "bound", "name",
    )  # fmt: skip

    def __init__(self, name: str, bound: int) -> None:
        if type(bound) is not int or bound < 1:
            raise ValueError(f"mailbox {name}: the bound is a whole number of at least 1, not {bound!r}")
        self.name, self.bound = name, bound
        self._send: trio.MemorySendChannel[T | _Question] | None = None
        self._receive: trio.MemoryReceiveChannel[T | _Question] | None = None
        self._first: trio.Event | None = None
        self._sleeper: Sleeper | None = None
        self._questions: dict[Reply[Any], None] | None = None
        self._sent = self._received = self._full = 0
        self._has_no_reader = False

    async def send(self, item: T) -> None:
        """Add a message, waiting while the mailbox is full. If cancelled, the message was not added."""
        await self._put(item)

    def send_nowait(self, item: T) -> None:
        """Add a message. Raises MailboxFull, and has then not added it."""
        try:
            self._sender().send_nowait(item)
        except trio.WouldBlock:
            self._full += 1
            raise MailboxFull(f"mailbox {self.name} holds {self.bound} messages") from None
        self._sent += 1

    async def receive(self) -> T:
        """Take the oldest message, waiting for one. If cancelled, none was taken."""
        self._has_no_reader = False
        if self._receive is None:
            first = self._first = trio.Event() if self._first is None else self._first
            await first.wait()
            with suppress(trio.WouldBlock):
                return self.receive_nowait()
        assert self._receive is not None
        return self._unwrapped(await self._receive.receive())

    async def receive_by(self, deadline: float) -> T | None:
        """Take the oldest message, waiting for one until a time of Trio's clock. None: there was none."""
        if self._receive is None and self._sleeper is None:
            self._has_no_reader = False
            self._sleeper = Sleeper()
            try:
                await self._sleeper.sleep_until(deadline)
                return self.receive_nowait()
            except trio.WouldBlock:
                return None
            finally:
                self._sleeper = None
        with trio.CancelScope(deadline=deadline):
            return await self.receive()
        return None

    def receive_nowait(self) -> T:
        """Take the oldest message. Raises trio.WouldBlock if there is none."""
        self._has_no_reader = False
        if self._receive is None:
            raise trio.WouldBlock
        return self._unwrapped(self._receive.receive_nowait())

    async def ask(self, make: Callable[[Reply[R]], T]) -> R:
        """Send the message that `make(reply)` builds and return its answer. There is no time limit. Raises the error of
        `reply.fail`, and Unanswered if the consumer ended without an answer or is known to be gone. If cancelled, the
        message may have been sent and acted upon.
        """
        if self._has_no_reader:
            raise Unanswered(f"no task reads mailbox {self.name}")
        reply: Reply[R] = Reply()
        questions = self._questions = {} if self._questions is None else self._questions
        questions[reply] = None
        try:
            with reply._scope:
                await self._put(_Question(make(reply), reply))
            return await reply._outcome()
        finally:
            reply.abandon()
            questions.pop(reply, None)

    def fail_questions(self, reason: str, *, for_good: bool) -> None:
        """Fail the questions taken by a consumer whose life is over; called by its supervisor. With `for_good`, those
        not yet taken fail too, and new ones at once, until a task receives again. No message leaves the mailbox.
        """
        self._has_no_reader = for_good
        for reply in tuple(self._questions or ()):
            if for_good or reply.taken:
                reply.fail(Unanswered(reason))

    def statistics(self) -> MailboxStatistics:
        depth = self._receive.statistics().current_buffer_used if self._receive is not None else 0
        return MailboxStatistics(self.name, depth, self.bound, self._sent, self._received, self._full)

    def __repr__(self) -> str:
        now = self.statistics()
        return f"<Mailbox {self.name} {now.depth}/{now.bound}, {now.sent} sent, {now.received} received>"

    async def _put(self, item: T | _Question) -> None:
        """Send in the channel's own steps, and count how often it was full."""
        sender = self._sender()
        await trio.lowlevel.checkpoint_if_cancelled()
        try:
            sender.send_nowait(item)
        except trio.WouldBlock:
            self._full += 1
            await sender.send(item)
            self._sent += 1
        else:
            self._sent += 1
            await trio.lowlevel.cancel_shielded_checkpoint()

    def _unwrapped(self, item: T | _Question) -> T:
        self._received += 1
        if not isinstance(item, _Question):
            return item
        item.reply.taken = True
        message: T = item.message
        return message

    def _sender(self) -> trio.MemorySendChannel[T | _Question]:
        if self._send is None:
            self._send, self._receive = trio.open_memory_channel(self.bound)
            if self._sleeper is not None:
                self._sleeper.wake()
            if self._first is not None:
                self._first.set()
                self._first = None
        return self._send
