"""What a child is doing, told from its supervisor's records and its task, without asking it."""

from __future__ import annotations

from typing import Protocol

import trio

from supervision.child import Child
from supervision.errors import NoSuchChild
from supervision.snapshot import Status, StepClock


class Finder(Protocol):
    """A supervisor, as far as finding a child goes."""

    path: str

    def find(self, path: str) -> Child | None:
        """Return the child of this full path."""


def status_of(tree: Finder, path: str, steps: StepClock | None) -> Status:
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
        steps=steps.of(child.path) if steps is not None else None,
    )


def _awaiting(task: trio.lowlevel.Task) -> str:
    """Return the innermost await that is not Trio's own; a task with a nursery shows where it waits for that."""
    place = ""
    for frame, line in task.iter_await_frames():
        code = frame.f_code
        if not str(frame.f_globals.get("__name__", "")).startswith("trio."):
            place = f"{code.co_filename.rpartition('/')[2]}:{line} in {code.co_name}"
    return place
