"""A small supervision library for Trio: actors as tasks, restarted, watched and stopped in order.

It imports trio and the standard library only. This file is its public API. Start reading with `README.md`, then
`child.py` (a child: its specification, and its life in one task), `supervisor.py` (few children that depend
on each other) and `dynamic.py` (many that do not). Pure, without clock or chance: `policy.py`,
`breaker.py`.
"""

from supervision.breaker import Breaker, BreakerRule
from supervision.child import Child, ChildSpec, Run, Strategy
from supervision.dynamic import DynamicStatistics, DynamicSupervisor
from supervision.errors import (
    AlreadyStarted,
    Crash,
    Escalate,
    InvalidSpec,
    NoSuchChild,
    NotReady,
    Stopping,
    Unanswered,
    describe,
)
from supervision.mailbox import Mailbox, MailboxFull, MailboxStatistics, Reply
from supervision.policy import Alarm, Backoff
from supervision.status import State, StateChange, Status, StepFigures
from supervision.supervisor import Supervisor
from supervision.watchdog import Stall, Watchdog

__all__ = [
    "Alarm", "AlreadyStarted", "Backoff", "Breaker", "BreakerRule", "Child", "ChildSpec", "Crash", "DynamicStatistics",
    "DynamicSupervisor", "Escalate", "InvalidSpec", "Mailbox", "MailboxFull", "MailboxStatistics", "NoSuchChild",
    "NotReady", "Reply", "Run", "Stall", "State", "StateChange", "Status", "StepFigures", "Stopping", "Strategy",
    "Supervisor", "Unanswered", "Watchdog", "describe",
]  # fmt: skip
