"""The status of a tree, from its supervisors' records and the tasks themselves, without asking any child."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import trio

from supervision.child import Child
from supervision.errors import NoSuchChild
from supervision.snapshot import Picture, Snapshot, Status, StepClock


class Tree(Protocol):
    """The part of a supervisor that inspection needs."""

    path: str
    steps: StepClock | None

    def find(self, path: str) -> Child | None:
        """Return the child with this full path."""

    def slices(self) -> Iterator[Sequence[Child]]:
        """Yield all children below, in slices."""


def snapshot_of(tree: Tree) -> Snapshot:
    """Return a snapshot of this moment."""
    picture = Picture()
    for children in tree.slices():
        picture.add(children)
    return picture.finish(trio.current_time(), tree.steps.slow() if tree.steps is not None else {})


async def wait_snapshot_of(tree: Tree) -> Snapshot:
    """Return a snapshot, with checkpoints between its slices."""
    picture = Picture()
    for children in tree.slices():
        picture.add(children)
        await trio.lowlevel.checkpoint()
    return picture.finish(trio.current_time(), tree.steps.slow() if tree.steps is not None else {})


def status_of(tree: Tree, path: str) -> Status:
    """Return the status of a child, by its full path or its path below `tree`. Raises NoSuchChild."""
    child = tree.find(path) or tree.find(f"{tree.path}/{path}")
    if child is None:
        raise NoSuchChild(path)
    mailbox = child.spec.mailbox
    return Status(
        path=child.path,
        state=child.state,
        since=child.since,
        restarts=child.restarts,
        crash=child.crash,
        attention=child.attention,
        note=child.remark,
        awaiting=_awaiting(child.task) if child.task is not None else "",
        mailbox=mailbox.statistics() if mailbox is not None else None,
        steps=tree.steps.of(child.path) if tree.steps is not None else None,
    )


def _awaiting(task: trio.lowlevel.Task) -> str:
    """Return the innermost await outside Trio; for a task with a nursery, the place where it waits for that."""
    place = ""
    for frame, line in task.iter_await_frames():
        code = frame.f_code
        if not str(frame.f_globals.get("__name__", "")).startswith("trio."):
            place = f"{code.co_filename.rpartition('/')[2]}:{line} in {code.co_name}"
    return place
