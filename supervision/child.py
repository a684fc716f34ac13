"""The specification of a child, checked when it is built, and its life in one task: run, see how it ends, ask the
policy, rest, run again. `Tree`: the common part of the supervisors.

A child has no nursery and no second task: it is stopped through the cancel scope around its run. That scope is
shielded, because Trio's cancellation is a broadcast and a supervisor's stop is a sequence: a cancellation from outside
reaches the supervisor, which then ends its children one by one (or slice by slice).
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import trio

from supervision.errors import Crash, InvalidSpec, NoSuchChild, NotReady, Stopping, describe
from supervision.mailbox import Mailbox
from supervision.policy import Backoff, Exit
from supervision.status import ChangeListener, State, StateChange, Status, StepClock

CLEANUP_GRACE = 5.0
"""Seconds that a cancelled child gets for clean-up before its supervisor continues its stop without it."""


Run = Callable[["Child"], Awaitable[None]]


class Strategy(Enum):
    """Which children restart with a static child: it alone, or it and all that were started after it."""

    ONE_FOR_ONE = "one_for_one"
    REST_FOR_ONE = "rest_for_one"


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One child. All times are seconds. Raises InvalidSpec for invalid values. id: unique among its siblings, without
    "/" (it becomes a step of the child's path). run: the child's code, called once for each life. shutdown: time for a
    child that uses `stopping` to end; then it is cancelled. 0 cancels at once. ready_within: time for the child to call
    `ready()`, else it counts as crashed; None: ready when started. mailbox: the one that only this child reads. It
    outlives the child's lives; the child's status shows its depth, and its waiting questions fail when the child ends
    (see `Mailbox`).
    """

    id: str
    run: Run
    shutdown: float = 5.0
    ready_within: float | None = None
    backoff: Backoff = field(default=Backoff())
    mailbox: Mailbox[Any] | None = None

    def __post_init__(self) -> None:
        if not self.id or "/" in self.id:
            raise InvalidSpec(f"a child's id is a non-empty word without '/', not {self.id!r}")
        if not callable(self.run):
            raise InvalidSpec(f"{self.id}: run must be an async function of the child, not {self.run!r}")
        if not 0 <= self.shutdown < math.inf:
            raise InvalidSpec(f"{self.id}: shutdown must be finite and not negative, not {self.shutdown!r} s")
        if self.ready_within is not None and not 0 < self.ready_within < math.inf:
            raise InvalidSpec(f"{self.id}: ready_within must be positive and finite, not {self.ready_within!r} s")


class Child:
    """A child for its own code (`path`, `ready()`, `stopping`, `note()`), and its supervisor's record of it."""

    __slots__ = (
        "_ready", "_restart_requested", "_scope", "_settled", "_stopping", "_task_ended", "alive", "began", "crash",
        "note_text", "on_hold", "owner", "path", "probation", "recent", "restarts", "since", "spec", "state",
        "stop_requested", "streak", "subtree", "task",
    )  # fmt: skip

    def __init__(self, spec: ChildSpec, path: str, owner: Tree) -> None:
        self.spec, self.path, self.owner = spec, path, owner
        self.state = State.STARTING
        self.since = self.began = trio.current_time()
        self.restarts = self.streak = 0
        self.recent: tuple[float, ...] = ()
        self.probation = False
        self.crash: Crash | None = None
        """Of the last life that crashed, however long ago."""
        self.note_text, self.on_hold = "", False
        self.subtree: Tree | None = None
        self.task: trio.lowlevel.Task | None = None
        self.alive = self.stop_requested = self._ready = self._restart_requested = False
        self._scope: trio.CancelScope | None = None
        self._stopping: trio.Event | None = None
        self._settled: trio.Event | None = None
        self._task_ended: trio.Event | None = None

    # --- for the child's own code --------------------------------------------------------------------------------

    @property
    def stopping(self) -> trio.Event:
        """Set when the child should stop. A child that has used this property gets `shutdown` seconds to end itself."""
        if self._stopping is None:
            self._stopping = trio.Event()
            if self.stop_requested:
                self._stopping.set()
        return self._stopping

    def ready(self) -> None:
        """Report that the child works now, so that the next child may start. Idempotent."""
        if self._ready:
            return
        self._ready = True
        if not self.stop_requested:
            if self._scope is not None:
                self._scope.deadline = math.inf
            self.become(State.RUNNING)
        self._settle()

    def note(self, text: str, *, on_hold: bool = False) -> None:
        """Set the status text, such as the child's present work. on_hold: it waits for the whole service."""
        self.note_text, self.on_hold = text, on_hold

    # --- for its supervisor --------------------------------------------------------------------------------------

    def become(self, state: State, at: float | None = None) -> None:
        """Change the state and notify the supervisor. at: the time, if it is known already."""
        old = self.state
        if state is not old:
            self.state = state
            self.since = trio.current_time() if at is None else at
            self.owner.changed(self, old)

    def change_from(self, old: State) -> StateChange:
        return StateChange(self.path, old, self.state, self.since, self.restarts, self.crash)

    def begin(self) -> None:
        """Prepare for a new task, before it is spawned."""
        self.alive, self.stop_requested, self._ready = True, False, False
        self.become(State.STARTING)

    def request_stop(self, within: float) -> None:
        """Ask the child to end within so many seconds; cancel it at once if it does not use `stopping`."""
        self._mark_stop_requested()
        if self._scope is None:
            return  # not running yet: its task will see `stop_requested`
        is_graceful = within > 0 and (self._stopping is not None or self.subtree is not None)
        if self._stopping is not None:
            self._stopping.set()
        if self.subtree is not None:
            self.subtree.stop(now=not is_graceful)
        if is_graceful:
            self._scope.deadline = min(self._scope.deadline, trio.current_time() + within)
        else:
            self._scope.cancel()

    def restart(self) -> None:
        """End this life, or this rest, and begin another at once, without back-off or budget, unless asked to end. A
        child that uses `stopping` gets its `shutdown` seconds.
        """
        if self._scope is None or self.stop_requested or not self.alive:
            return
        self._restart_requested = True
        is_waiting = self.state in (State.BACKOFF, State.QUARANTINED)
        if self._stopping is not None and self.spec.shutdown > 0 and not is_waiting:
            self._stopping.set()
            self._scope.deadline = min(self._scope.deadline, trio.current_time() + self.spec.shutdown)
        else:
            self._scope.cancel()

    @property
    def resumes_at(self) -> float | None:
        """When a resting child begins its next life, by Trio's clock; None if it does not rest."""
        is_waiting = self.state in (State.BACKOFF, State.QUARANTINED)
        return self._scope.deadline if is_waiting and self._scope is not None else None

    def cancel(self) -> None:
        """Cancel the child now, without time for a polite end. A nested supervisor cancels its children in order."""
        self._mark_stop_requested()
        if self.subtree is not None:
            self.subtree.stop(now=True)
        if self._scope is not None:
            self._scope.cancel()

    async def wait_settled(self) -> None:
        while self.alive and not self._ready:
            if self._settled is None:
                self._settled = trio.Event()
            await self._settled.wait()

    async def wait_task_ended(self) -> None:
        if self.alive:
            if self._task_ended is None:
                self._task_ended = trio.Event()
            await self._task_ended.wait()

    async def wait_ended(self, within: float) -> None:
        """Ask the child to end, cancel it after so many seconds, and wait for the end of its task. If cancelled while
        waiting, the request remains.
        """
        if self.alive:
            self.request_stop(within)
            with trio.move_on_after(within):
                await self.wait_task_ended()
            if self.alive:
                self.cancel()
                await self.wait_task_ended()

    def __repr__(self) -> str:
        why = f", last {self.crash}" if self.crash is not None else ""
        return f"<Child {self.path} {self.state} since {self.since:.3f}, {self.restarts} restarts{why}>"

    # --- for its task --------------------------------------------------------------------------------------------

    def _begin_run(self) -> trio.CancelScope:
        self.began = trio.current_time()
        self._restart_requested = False
        if (within := self.spec.ready_within) is None:
            self._ready = True
            self._scope = trio.CancelScope(shield=True, deadline=math.inf)
            self.become(State.RUNNING, self.began)
            self._settle()
        else:
            self._ready = False
            self._scope = trio.CancelScope(shield=True, deadline=self.began + within)
            self.become(State.STARTING, self.began)
        return self._scope

    def _end_run(self, crash: Crash | None, *, was_cancelled: bool) -> float | None:
        """Return the seconds to rest before the next life, None if this was the last in this task."""
        if crash is None and was_cancelled and not (self.stop_requested or self._restart_requested):
            crash = describe(NotReady(f"not ready within {self.spec.ready_within:g} s"))
        self._stopping, self.subtree = None, None
        if self.spec.mailbox is not None:
            self.spec.mailbox.fail_questions(f"{self.path} ended before answering", for_good=False)
        if crash is not None:
            self.crash = crash
        if self.stop_requested:
            return None
        if self._restart_requested and crash is None:
            self.restarts += 1
            return 0.0
        now = trio.current_time()
        return self.owner.after(self, Exit(crash is not None, now, now - self.began))

    def _begin_wait(self, seconds: float) -> trio.CancelScope:
        if self.spec.mailbox is not None and self.state is State.QUARANTINED:
            self.spec.mailbox.fail_questions(f"{self.path} is in quarantine", for_good=True)
        self._scope = trio.CancelScope(shield=True, deadline=self.since + seconds)
        return self._scope

    def _close(self) -> None:
        self.alive, self.task, self._scope = False, None, None
        if self.spec.mailbox is not None:
            self.spec.mailbox.fail_questions(f"{self.path} has ended", for_good=self.state is not State.BACKOFF)
        self.owner.ended(self)
        self._settle()
        if self._task_ended is not None:
            self._task_ended.set()
            self._task_ended = None

    def _mark_stop_requested(self) -> None:
        if self.alive and not self.stop_requested:
            self.stop_requested = True
            self.become(State.STOPPING)

    def _settle(self) -> None:
        if self._settled is not None:
            self._settled.set()
            self._settled = None


async def run_child(child: Child) -> None:
    """Run a child's task: life after life, until the policy or a stop ends them. Raises no Exception."""
    child.task = trio.lowlevel.current_task()
    try:
        while not child.stop_requested:
            crash = None
            try:
                with child._begin_run() as scope:
                    try:
                        await child.spec.run(child)
                    except Exception as error:
                        crash = describe(error, skip=1)
            except Exception as error:
                # A nursery inside the child can end in a group of Cancelled and ValueError. That group is no Exception
                # and passes the clause above; the scope removes its Cancelled and raises the rest, which arrives here.
                crash = describe(error, skip=1)
            if (wait := child._end_run(crash, was_cancelled=scope.cancelled_caught)) is None:
                return
            if wait > 0:
                with child._begin_wait(wait):
                    await trio.sleep_forever()
            else:
                await trio.lowlevel.cancel_shielded_checkpoint()
    finally:
        child._close()


class Tree:
    """A supervisor as its children, and the supervisor above it, see it."""

    def __init__(
        self, name: str, chance: random.Random, on_change: Callable[[StateChange], None] | None, steps: StepClock | None
    ) -> None:
        self.name = self.path = name
        self.listener = ChangeListener(on_change)
        self.steps, self._chance = steps, chance
        self._nursery: trio.Nursery | None = None
        self._stop_requested = False

    def stop(self, *, now: bool = False) -> None:
        """Stop in order; `now` skips the time for polite ends."""
        raise NotImplementedError

    def find(self, path: str) -> Child | None:
        """Return the child with this full path, at any depth; None if there is none."""
        raise NotImplementedError

    def after(self, child: Child, exit: Exit) -> float | None:
        """Return the seconds to rest before a child's next life; None if there is none in this task."""
        raise NotImplementedError

    def ended(self, child: Child) -> None:
        raise NotImplementedError

    def changed(self, child: Child, old: State) -> None:
        if self.listener.listener is not None:
            self.listener.notify(child.change_from(old))

    def status(self, path: str) -> Status:
        """Return the status of a child, by its full path or its path below this. Raises NoSuchChild."""
        child = self.find(path) or self.find(f"{self.path}/{path}")
        if child is None:
            raise NoSuchChild(path)
        record = (child.path, child.state, child.since, child.restarts, child.crash, child.note_text)
        awaiting = _awaiting(child.task) if child.task is not None else ""
        mailbox = child.spec.mailbox.statistics() if child.spec.mailbox is not None else None
        return Status(*record, awaiting, mailbox, self.steps.of(child.path) if self.steps is not None else None)

    def _join(self, child: Child | None) -> None:
        """Take a place below another supervisor, whose listener and steps are used unless there are own ones."""
        if self._nursery is not None:
            raise RuntimeError(f"supervisor {self.path} is running already")
        if child is not None:
            self.path = child.path
            child.subtree = self
            if self.listener.listener is None:
                self.listener = child.owner.listener
            if self.steps is None:
                self.steps = child.owner.steps

    def _running(self) -> trio.Nursery:
        if self._nursery is None or self._stop_requested:
            raise Stopping(f"{self.path} is {'stopping' if self._stop_requested else 'not running'}")
        return self._nursery

    def __repr__(self) -> str:
        state = "idle" if self._nursery is None else "stopping" if self._stop_requested else "running"
        return f"<{type(self).__name__} {self.path} {state}, {self._count()}>"

    def _count(self) -> str:
        raise NotImplementedError


def _awaiting(task: trio.lowlevel.Task) -> str:
    """Return the innermost await outside Trio; for a task with a nursery, the place where it waits for that."""
    place = ""
    for frame, line in task.iter_await_frames():
        code = frame.f_code
        if not str(frame.f_globals.get("__name__", "")).startswith("trio."):
            place = f"{code.co_filename.rpartition('/')[2]}:{line} in {code.co_name}"
    return place
