"""The newest session survives any order of steps by checks, edits, commits, crashes and other nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from actors.egress.cookies import SetCookies
from actors.egress.url import parse_url
from actors.messages.workers import RecorderMessage, SaveStates
from actors.sources.checks.access import Renewal, access_to
from actors.sources.session_cookies import LONGEST, MOST_PREVIEWS, PreviewCookies, SessionCookies
from storage.records import source
from storage.records.identity import SourceId
from supervision import Mailbox
from tests.support.build import NOW

URL = parse_url("https://site.example/page")
SOURCE = SourceId("01930000-0000-7000-8000-000000000001")
Process = Iterator[None]
"""Each `next` takes one step."""
DONE = object()


class Site:
    """A server that renews the session at each visit and rejects older ones. Each of two sign-ins has its own
    sessions.
    """

    def __init__(self) -> None:
        self.newest = {"a": 0, "b": 0}

    def visit(self, cookie: str) -> str:
        """Return the session that an answer sets."""
        row, number = cookie[:1], cookie[1:]
        if row not in self.newest or number != str(self.newest[row]):
            return "stranger"
        self.newest[row] += 1
        return f"{row}{self.newest[row]}"


class Node:
    """A node's knowledge of the source, and its unwritten data. acknowledged: newest stored number that a node heard
    of, by sign-in.
    """

    def __init__(self, disk: dict[str, str]) -> None:
        self.disk, self.acknowledged = disk, {"a": 0, "b": 0}
        self.life = 0
        self.begin()

    def begin(self) -> None:
        """Start, or restart after a crash with empty memory."""
        self.life += 1
        self.box: Mailbox[RecorderMessage] = Mailbox("recorder", 64)
        self.ports: Any = SimpleNamespace(world=SimpleNamespace(now=lambda: NOW), recorder=self.box)
        self.row, self.has_turn, self.own_look = self.disk["row"], False, ""
        self.kept = SessionCookies(SOURCE, self.disk["jar"])

    def sends(self) -> str:
        return sent(self.renewal())

    def renewal(self) -> Renewal:
        return Renewal(self.ports, access_to(URL, headers(self.row)), self.kept)

    def commit_one(self) -> bool:
        try:
            message = self.box.receive_nowait()
        except trio.WouldBlock:
            return False
        assert isinstance(message, SaveStates) and message.on_saved is not None
        for _, text in message.jars:
            store(self.disk, text)
        message.on_saved(True)
        now = self.disk["row"]
        for row, number in re.findall(r'"([ab])([0-9]+)"', self.disk["jar"]):
            self.acknowledged[row] = max(self.acknowledged[row], int(number) if row == now else 0)
        return True

    def settle(self) -> None:
        """Deliver everything in transit, and read the others' writes."""
        while self.commit_one():
            pass
        self.kept = self.kept.merge(self.disk["jar"])


def headers(row: str) -> str:
    return f"Cookie: session={row}0"


def sent(renewal: Renewal) -> str:
    (pair,) = renewal.begin().headers_to(URL, NOW)
    return pair[1].decode().removeprefix("session=")


def store(disk: dict[str, str], text: str) -> None:
    if source.is_younger(text, disk["jar"]):
        disk["jar"] = text


def a_look(site: Site, node: Node, *, own: bool = False, tries: bool = False) -> Process:
    """Send a request in the host's turn; read the answer's head; judge its body."""
    life, renewal = node.life, node.renewal()
    while node.has_turn:
        yield
    if life != node.life or (own and node.own_look == "ended"):
        return
    node.has_turn = True
    node.own_look = "asks" if own else node.own_look
    session = site.visit(sent(renewal))
    yield
    if life != node.life:
        return
    renewal.on_response(URL, SetCookies((f"session={session}; Path=/",)))
    node.has_turn = False
    node.own_look = "" if own else node.own_look
    yield
    if life != node.life or (own and node.own_look == "ended"):
        return
    if session == "stranger":
        renewal.reject()
    else:
        renewal.confirm(at_once=tries)


def an_edit(node: Node, row: str) -> Process:
    """End the source's own check once its answer has begun; store; replace the record.

    row: the sign-in of the new headers, "" for no change.
    """
    life = node.life
    while node.own_look == "asks" and life == node.life:
        yield
    node.own_look = "ended"
    kept = node.kept.for_new_headers() if row else node.kept
    text = kept.text
    yield
    if life != node.life:
        return
    node.disk["row"] = row or node.disk["row"]
    store(node.disk, text)
    yield
    if life == node.life:
        node.row, node.kept = node.disk["row"], kept


def a_harvest(node: Node) -> Process:
    """Write to the disk the state from the harvest's start."""
    text, life = node.kept.text, node.life
    yield
    if life == node.life:
        store(node.disk, text)


def commits(node: Node, times: int) -> Process:
    for _ in range(times):
        node.commit_one()
        yield


def a_crash(node: Node) -> Process:
    node.begin()
    yield


def reads(node: Node) -> Process:
    """Read another node's write; if the record changed too, this node's own edit comes first."""
    if node.row == node.disk["row"]:
        node.kept = node.kept.merge(node.disk["jar"])
    yield


def orders(lengths: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all interleavings of processes with these numbers of steps."""
    if not any(lengths):
        yield ()
    for which, left in enumerate(lengths):
        if left:
            rest = [*lengths[:which], left - 1, *lengths[which + 1 :]]
            yield from ((which, *after) for after in orders(rest))


def some_orders(*lengths: int) -> Iterator[tuple[int, ...]]:
    """Yield a fixed sample of the orders, where all of them are too many for a quick test."""
    chance, steps = Random(19), [which for which, length in enumerate(lengths) for _ in range(length)]
    for _ in range(1_000):
        chance.shuffle(steps)
        yield tuple(steps)


def play(order: Sequence[int], *processes: Process) -> None:
    """Take steps in an order; then let waiting processes finish."""
    for which in order:
        next(processes[which], None)
    left = list(processes)
    while left:
        left = [process for process in left if next(process, DONE) is not DONE]


def lost(site: Site, node: Node) -> bool:
    """Return whether a node lacks the newest session of its user's last sign-in."""
    newest = f"{node.row}{site.newest[node.row]}"
    is_stored = f'"{newest}"' in node.disk["jar"] or newest == f"{node.row}0"
    return node.row != node.disk["row"] or node.sends() != newest or not is_stored


def looks_and_an_edit(row: str, *, borrowed: bool) -> Sequence[Sequence[int]]:
    """Return the orders that lose a session."""
    found = []
    for order in orders([3, 3, 3]):
        site, node = Site(), Node({"row": "a", "jar": ""})
        second = a_look(site, node) if borrowed else commits(node, 3)
        play(order, a_look(site, node, own=borrowed), second, an_edit(node, row))
        node.settle()
        if lost(site, node):
            found.append(order)
    return found


def looks_and_late_writes() -> Sequence[Sequence[int]]:
    found = []
    for order in some_orders(3, 3, 2, 2):
        site, node = Site(), Node({"row": "a", "jar": ""})
        play(order, a_look(site, node), a_look(site, node), a_harvest(node), commits(node, 2))
        node.settle()
        if lost(site, node):
            found.append(order)
    return found


@pytest.mark.parametrize("row", ["", "b"])
@pytest.mark.parametrize("borrowed", [True, False])
def test_no_order_of_checks_and_an_edit_loses_a_session_or_brings_an_old_one_back(row: str, borrowed: bool) -> None:
    assert looks_and_an_edit(row, borrowed=borrowed) == []


def test_no_order_of_checks_and_commits_writes_an_old_session_over_a_newer_one() -> None:
    assert looks_and_late_writes() == []


@pytest.mark.parametrize("row", ["", "b"])
def test_a_crash_loses_only_unacknowledged_checks(row: str) -> None:
    for order in some_orders(3, 3, 3, 1):
        site, node = Site(), Node({"row": "a", "jar": ""})
        play(order, a_look(site, node), commits(node, 3), an_edit(node, row), a_crash(node))
        node.settle()
        assert node.row == node.disk["row"], order
        assert node.sends()[:1] == node.row and int(node.sends()[1:]) >= node.acknowledged[node.row], order


@pytest.mark.parametrize("row", ["", "b"])
def test_two_nodes_that_check_at_once_keep_the_session_that_works(row: str) -> None:
    for order in some_orders(3, 3, 3, 1):
        site, disk = Site(), {"row": "a", "jar": ""}
        owner, other = Node(disk), Node(disk)
        play(order, a_look(site, owner), a_look(site, other, tries=True), an_edit(owner, row), reads(owner))
        other.settle()
        owner.settle()
        store(disk, owner.kept.text)  # like a sweep
        assert not lost(site, owner), order


def test_lost_cookies_are_found_if_an_edit_copies_them_or_storage_takes_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as planted:
        planted.setattr(source, "is_younger", lambda *_: True)
        assert looks_and_late_writes() and looks_and_an_edit("b", borrowed=True)
    monkeypatch.setattr(SessionCookies, "for_new_headers", lambda self: SessionCookies(SOURCE, self.text))
    assert looks_and_an_edit("b", borrowed=True)


async def test_cookies_renewed_by_a_preview_apply_if_it_is_added_within_15_minutes(
    autojump_clock: trio.testing.MockClock,
) -> None:
    tried = PreviewCookies()
    kept = tried.get("a")
    kept.put("[1]")
    assert tried.get("a") is kept and tried.get("b") is not kept and repr(tried) == "<PreviewCookies 2>"
    assert tried.assign("a", SOURCE) is kept and kept.source == SOURCE
    assert tried.get("a").current == "", "it is the source's now"
    tried.get("a").put("[2]")
    await trio.sleep(LONGEST + 1)
    assert tried.get("a").current == ""
    for number in range(MOST_PREVIEWS + 5):
        tried.get(f"{number}").put("[3]")
    assert (
        repr(tried) == f"<PreviewCookies {MOST_PREVIEWS}>" and tried.get("4").current == "" != tried.get("68").current
    )


async def test_a_write_without_room_is_left_to_the_sweep() -> None:
    box: Mailbox[RecorderMessage] = Mailbox("recorder", 1)
    kept = SessionCookies(SOURCE)
    kept.put('[["session","1"]]')
    kept.save(box)
    kept.put('[["session","2"]]')
    kept.save(box)
    assert kept.needs_save and box.statistics().depth == 1 and "session" not in repr(kept)
    kept.on_saved(kept.age, saved=False)
    assert kept.needs_save
    kept.on_saved(kept.age, saved=True)
    assert not kept.needs_save
