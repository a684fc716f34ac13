"""State that is read before an `await` is not written back, noted or stored after it without another read.

Other tasks run during an `await`. These shapes have lost checks, news, edits and the ends of shifts:

written back    `hot = live.hot; await …; live.hot = replace(hot, …)`, or `await send(self._news); self._news = None`
noted           `await save(self._shift); self._stored = self._shift`: the shift may be another one by then
taken over      `stored = await storage.get(…); live.hot = stored.hot`: memory may be newer
cleared         `await read(); self._stale = False`: it may have become stale during the read
passed on       `hot = live.hot; await …; save(hot)`
looked up       `await …; self._live[id]`: another function may have removed it

A state is an attribute that its module changes outside `__init__` (a public one: any module), in more than one
function. A local name that is bound to an attribute stands for it. Not seen: changes inside a container, and a state
that a called function has read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from textwrap import indent

import pytest

from tests.rules.source_files import ROOMS, modules, name_of, nodes_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MUTATORS = {"clear", "pop", "popitem", "append", "add", "discard", "remove", "update", "setdefault"}
REMOVERS = {"clear", "pop", "popitem", "discard", "remove"}
FINDERS = {"move_to_end", "remove", "index"}
"""Methods that raise without the element, in addition to a subscript."""
STORES = {"replace", "renew", "update", "save", "put", "add", "step", "edit", "Record", "Harvest", "SourceState"}
"""Functions that store a state, or make one to store."""
UNCHANGING = ("id", "url", "type")
ANYTHING = ast.Constant(1)
"""An unknown value."""


def chain_of(node: ast.AST, names: dict[str, str]) -> str:
    """Return an attribute chain in full, as in `self._live.hot` or `self._rows[0]`; "" for any other expression."""
    match node:
        case ast.Attribute(value=value, attr=attr):
            before = names.get(value.id, value.id) if isinstance(value, ast.Name) else whole(chain_of(value, names))
            return before and f"{before}.{attr}"
        case ast.Subscript(value=value, slice=place):
            owner = whole(chain_of(value, names))
            return owner and f"{owner}[{ast.unparse(place)}]"
    return ""


def whole(chain: str) -> str:
    """Return the chain of a container for that of its element."""
    return chain.partition("[")[0]


def state_in(chain: str) -> str:
    """Return the last two names of a chain, as in `live.hot`, also for an owner that is an attribute."""
    owner, _, name = whole(chain).rpartition(".")
    return f"{owner.rpartition('.')[2].lstrip('_')}.{name}"


def changed(tree: Sequence[ast.AST]) -> dict[str, set[str]]:
    """Return the states that are changed outside `__init__`, with the names of the functions that do so."""
    found = dict[str, set[str]]()
    for function in (node for node in tree if isinstance(node, FUNCTIONS) and node.name != "__init__"):
        for node in ast.walk(function):
            match node:
                case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                    found.setdefault(state_in(chain_of(node, {})), set()).add(function.name)
                case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in MUTATORS:
                    if (chain := chain_of(owner, {})).startswith("self."):
                        found.setdefault(state_in(chain), set()).add(function.name)
    return found


def shrunk(tree: Sequence[ast.AST]) -> dict[str, set[str]]:
    """Return the containers of `self` that become shorter, with the names of the functions that do so."""
    found = dict[str, set[str]]()
    for function in (node for node in tree if isinstance(node, FUNCTIONS)):
        for node in ast.walk(function):
            match node:
                case ast.Subscript(value=owner, ctx=ast.Del()):
                    found.setdefault(chain_of(owner, {}), set()).add(function.name)
                case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in REMOVERS:
                    found.setdefault(chain_of(owner, {}), set()).add(function.name)
    return {chain: names for chain, names in found.items() if chain.startswith("self.")}


@cache
def public() -> frozenset[str]:
    """Return the public states that some module of the product changes through a name other than `self`."""
    names = {name for path in modules(*ROOMS) for name in changed(nodes_of(path))}
    return frozenset(name for name in names if "._" not in name and not name.startswith(("self.", ".")))


def is_empty(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=given):
            return not given
        case ast.Tuple(elts=inside) | ast.List(elts=inside):
            return not inside
        case ast.Dict(keys=inside):
            return not inside
    return False


@dataclass
class Known:
    """The knowledge at a place of a function.

    names: the chain that a local name stands for. bound: the states in a local name; stale: those of an await ago.
    held: states that a name was bound to, and sent: those in an awaited call. old: those of both that were not read
    since the last await; fresh: those that were. own: states that the function has written. stored: local names for
    records from the storage.
    """

    names: dict[str, str] = field(default_factory=dict)
    bound: dict[str, frozenset[str]] = field(default_factory=dict)
    stale: dict[str, frozenset[str]] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    sent: frozenset[str] = frozenset()
    old: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    waited: bool = False

    def copy(self) -> Known:
        return Known(**{name: copy(value) if isinstance(value, dict) else value for name, value in vars(self).items()})

    def wait(self, sent: frozenset[str] = frozenset()) -> None:
        self.sent |= sent
        self.old |= self.held | self.sent
        self.fresh, self.waited = frozenset(), True
        self.stale |= self.bound

    def forget(self, name: str) -> None:
        for known in (self.names, self.bound, self.stale):
            known.pop(name, None)
        self.stored -= {name}


def joined(ways: Sequence[Known | None]) -> Known | None:
    """Return what may be the case after several ways; None: no way leads on."""
    open = [way.copy() for way in ways if way is not None]
    for way in open[1:]:
        for name, value in vars(way).items():
            mine = getattr(open[0], name)
            setattr(open[0], name, mine & value if name in ("fresh", "own") else mine | value)
    return open[0] if open else None


class Reader:
    """Reads an async function in the order of its execution, each loop twice. found: (line, shape, state).

    states: those that other functions change. shrinking: containers that others shorten.
    """

    def __init__(self, states: frozenset[str], shrinking: frozenset[str]) -> None:
        self.found: set[tuple[int, str, str]] = set()
        self._states, self._shrinking = states, shrinking
        self._breaks: list[Known] = []

    def body(self, body: Sequence[ast.stmt], now: Known | None) -> Known | None:
        for statement in body:
            if now is None:
                return None
            now = self._statement(statement, now)
        return now

    def _statement(self, node: ast.stmt, now: Known) -> Known | None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return now
            case ast.If(test=test, body=body, orelse=orelse):
                self._read(test, now)
                return joined([self.body(body, now.copy()), self.body(orelse, now)])
            case ast.Match(subject=subject, cases=cases):
                self._read(subject, now)
                return joined([*(self.body(case.body, now.copy()) for case in cases), now])
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._loop(node, now)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                return self._with(node, items, body, now)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                done = self.body(body, now.copy())
                failed = joined([done, now])
                ways = [self.body(handler.body, failed.copy()) for handler in handlers if failed is not None]
                after = joined([self.body(orelse, done), *ways])
                if after is None:
                    self.body(final, now)
                return self.body(final, after)
        return self._simple(node, now)

    def _simple(self, node: ast.stmt, now: Known) -> Known | None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, value, now)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign([target], value, now)
            case ast.AugAssign(target=target, value=value):
                self._read(target, now)
                self._assign([target], value, now)
            case _:
                for child in ast.iter_child_nodes(node):
                    self._read(child, now)
        if isinstance(node, ast.Break):
            self._breaks.append(now)
        return None if isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break) else now

    def _loop(self, node: ast.While | ast.For | ast.AsyncFor, now: Known) -> Known | None:
        outer, self._breaks = self._breaks, []
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
        if not isinstance(node, ast.While):
            self._read(node.iter, now)
        again: Known | None = now
        for _ in range(2):
            if again is None:
                break
            if isinstance(node, ast.While):
                self._read(node.test, again)
            else:
                if isinstance(node, ast.AsyncFor):
                    again.wait()
                self._bind(node.target, ANYTHING, again)
            again = joined([self.body(node.body, again.copy()), again])
        after = joined([*([] if endless else [self.body(node.orelse, again)]), *self._breaks])
        self._breaks = outer
        return after

    def _with(
        self, node: ast.stmt, items: Sequence[ast.withitem], body: Sequence[ast.stmt], now: Known
    ) -> Known | None:
        for item in items:
            self._read(item.context_expr, now)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, ANYTHING, now)
        if isinstance(node, ast.AsyncWith):
            now.wait()
        after = self.body(body, now)
        if isinstance(node, ast.AsyncWith) and after is not None:
            after.wait()
        return after

    def _read(self, node: ast.AST, now: Known) -> None:
        """Take note of an expression, in the order of its evaluation."""
        self._look_up(node, now)
        match node:
            case ast.Lambda():
                return
            case ast.NamedExpr(target=target, value=value):
                self._assign([target], value, now)
                return
            case ast.IfExp(test=test, body=body, orelse=orelse):  # a read in one branch is no comparison
                self._read(test, now)
                for branch in (body, orelse):
                    self._read(branch, now.copy())
                return
        children = list(ast.iter_child_nodes(node))
        for child in reversed(children) if isinstance(node, COMPREHENSIONS) else children:
            self._read(child, now)
        match node:
            case ast.Await(value=value):
                now.wait(self._states_in(value, now))
            case ast.Call(func=called) if ast.unparse(called).rpartition(".")[2] in STORES:
                for name in (each.id for each in ast.walk(node) if isinstance(each, ast.Name)):
                    for state in now.stale.get(name, frozenset()) & now.old:
                        self.found.add((node.lineno, "passed on", state))
            case ast.Attribute() | ast.Subscript():
                read = {chain_of(node, now.names)}
                now.old -= read
                now.fresh |= read

    def _look_up(self, node: ast.AST, now: Known) -> None:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in FINDERS:
                chain = chain_of(owner, now.names)
            case ast.Subscript(value=owner, slice=place, ctx=ast.Load()) if not isinstance(place, ast.Slice):
                chain = chain_of(owner, now.names)
            case _:
                return
        known = {whole(each) for each in now.fresh | now.own}
        if now.waited and chain in self._shrinking and chain not in known:
            self.found.add((node.lineno, "looked up", chain))

    def _states_in(self, node: ast.AST, now: Known) -> frozenset[str]:
        """Return the states that an expression has the values of, without elements and what never changes."""
        found = set[str]()
        match node:
            case ast.Attribute() | ast.Subscript():
                chain = chain_of(node, now.names)
                if state_in(chain) in self._states:
                    found.add(chain)
                if isinstance(node, ast.Attribute) and node.attr not in UNCHANGING:
                    found |= self._states_in(node.value, now)
            case ast.Call(func=called, args=args, keywords=keywords):
                owner = [called.value] if isinstance(called, ast.Attribute) else []
                for each in (*owner, *args, *(keyword.value for keyword in keywords)):
                    found |= self._states_in(each, now)
            case ast.Lambda() | ast.Compare():
                pass
            case _:
                for child in ast.iter_child_nodes(node):
                    found |= self._states_in(child, now)
        return frozenset(found)

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr, now: Known) -> None:
        self._read(value, now)
        for target in targets:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                for one, other in zip(target.elts, value.elts, strict=True):
                    self._bind(one, other, now)
            else:
                self._bind(target, value, now)

    def _bind(self, target: ast.expr, value: ast.expr, now: Known) -> None:
        chain = chain_of(target, now.names)
        if chain:
            self._write(target, chain, value, now)
            return
        for each in ast.walk(target):
            if isinstance(each, ast.Name):
                now.forget(each.id)
        if not isinstance(target, ast.Name):
            return
        if isinstance(value, ast.Await):
            if "storage" in ast.unparse(value):
                now.stored |= {target.id}
        elif states := self._states_in(value, now):
            now.bound[target.id] = states
            now.held |= states
        if isinstance(value, ast.Attribute) and (stands := chain_of(value, now.names)):
            now.names[target.id] = stands

    def _write(self, target: ast.expr, chain: str, value: ast.expr, now: Known) -> None:
        line = target.lineno
        for other in now.sent & self._states_in(value, now) - {chain}:
            self.found.add((line, "noted", other))
        if state_in(chain) in self._states and ast.unparse(value) != "trio.Event()":
            if {chain, whole(chain)} & now.old:
                self.found.add((line, "written back", chain))
            elif (
                now.waited
                and is_empty(value)
                and isinstance(target, ast.Attribute)
                and chain.startswith("self._")
                and chain not in now.fresh | now.own
            ):
                self.found.add((line, "cleared", chain))
            name = chain.rpartition(".")[2]
            taken = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            if chain not in now.fresh and any(
                isinstance(each, ast.Attribute) and each.attr == name and ast.unparse(each.value) in now.stored
                for each in taken
            ):
                self.found.add((line, "taken over", chain))
        now.own |= {chain}
        now.old, now.held, now.sent = now.old - {chain}, now.held - {chain}, now.sent - {chain}


def stale(tree: Sequence[ast.AST]) -> Iterator[tuple[str, str, int]]:
    """Yield (function, shape and state, line) of a module."""
    changers, removers = changed(tree), shrunk(tree)
    for node in tree:
        if isinstance(node, ast.AsyncFunctionDef):
            states = frozenset(state for state, names in changers.items() if names - {node.name})
            shrinking = frozenset(chain for chain, names in removers.items() if names - {node.name})
            reader = Reader(public() | states, shrinking)
            reader.body(node.body, Known())
            for line, shape, chain in sorted(reader.found):
                yield node.name, f"{shape} {chain}", line


def found_in(*rooms: str) -> dict[str, int]:
    return {
        f"{name_of(path)} {function}: {what}": line
        for path in modules(*rooms)
        for function, what, line in stale(nodes_of(path))
    }


OWN_ACTOR = "only the source's own actor changes it while it runs; an edit stops it first"
COMPARED = "the store has compared the record with the one before"
NEW = "no other task knows the new source yet"
STORAGE_IS_RIGHT = "storage's version is the true one"
ONE_TASK = "one task alone changes it"
REVIEWED = {
    "actors/delivery/actor.py _clamp: written back self._clock_set_back": "`_clamp_at` tells of a clock set since",
    "actors/delivery/actor.py _clamp: cleared self._next_due_at": "0 is the careful value: storage is asked for it",
    "actors/delivery/actor.py _refill: written back self._is_stale": "True only reads the record again",
    "actors/delivery/actor.py _wait: cleared self._is_drained": "False is the careful value: the outbox is read again",
    "actors/delivery/claims.py release_unconfirmed: cleared self._is_unconfirmed": ONE_TASK,
    "actors/delivery/claims.py _wait_admission: looked up self._admitted": "a Counter lacks nothing",
    "actors/delivery/registry.py refresh: looked up self._actors": "`_start` has just put it there",
    "actors/sources/page.py _read_page: written back self._digests[source.id]": "they hold for one memory",
    "actors/sources/importer.py _work: written back running.rows[number]": "each row has one worker",
    "actors/jail/pool.py _run_parent: cleared self._failed_starts": ONE_TASK,
    "actors/jail/pool.py _run_parent: cleared self._free": "the workers of a parent end with it",
    "actors/jail/pool.py _run_parent: cleared self._parent": ONE_TASK,
    "actors/jail/pool.py _run_parent: cleared self._start_error": ONE_TASK,
    "actors/recorder/actor.py published: cleared self._published": "it is made at once from the present keys",
    "actors/sources/detection.py save_title: written back live.source": COMPARED,
    "actors/sources/detection.py store_classification: written back live.source": COMPARED,
    "actors/sources/polling.py _run_check: passed on self._limits": OWN_ACTOR,
    "actors/sources/polling.py _run_check: passed on self._live.hot": OWN_ACTOR,
    "actors/sources/polling.py _run_check: passed on self._ports.pricing.price": "a price of a moment ago",
    "actors/sources/push/actor.py _is_committed: taken over self._live.version": STORAGE_IS_RIGHT,
    "actors/sources/push/actor.py _send: written back self._live.version": COMPARED,
    "actors/sources/push/actor.py flush: cleared self._is_uncertain": ONE_TASK,
    "actors/sources/push/frames.py load_window: taken over self._live.version": STORAGE_IS_RIGHT,
    "extras/cluster/members/membership.py catch_up: written back self._table.revision": "under a lock",
    "actors/sources/registry/practice.py change: written back live.source": COMPARED,
    "actors/sources/registry/service.py _checked_part: passed on live.source": NEW,
    "actors/sources/registry/service.py begin: written back live.hot": NEW,
    "actors/sources/registry/service.py begin: written back live.source": NEW,
    "extras/browser/pool.py _tend: cleared self._failed_starts": ONE_TASK,
    "extras/browser/pool.py _tend: cleared self._trouble": ONE_TASK,
    "extras/browser/remote.py _serve: cleared self._open": "the proxy's listeners end together",
    "extras/cluster/postgres/engine.py one: written back self._next[key]": "the same question, asked again",
    "extras/cluster/replica/shipper.py _put_change: written back chain.hash": ONE_TASK,
    "extras/migrate/whole/loading.py _adopt: cleared self._weight": ONE_TASK,
    "extras/migrate/whole/loading.py _adopt: written back self._events": ONE_TASK,
    "extras/migrate/whole/loading.py _put: cleared self._puts": ONE_TASK,
    "extras/publish/hub.py _document: written back self._documents[key]": "two documents of one key are equal",
    "supervision/mailbox.py commit: cleared self._work": ONE_TASK,
    "extras/picking/screens.py save: passed on visit.form": "a form belongs to one request",
}
"""Places that the rule finds, and why nothing is lost there."""

OTHERS = """
    def other(self): self._news = self._ahead = self._shifts[0] = 1; self._stale = True; self._kept.clear()
    def more(self): live.hot = live.version = self._shifts[:] = 1; live.source = 2
"""
EXAMPLES = {
    "hot = live.hot; await a(); live.hot = replace(hot, looks=1)": {"written back live.hot", "passed on live.hot"},
    "hot = self._live.hot; await a(); self._live.hot = hot": {"written back self._live.hot"},
    "await send(self._news); self._news = None": {"written back self._news"},
    "kept = self._kept.get(1); await a(); self._kept[1] = 2": {"written back self._kept[1]"},
    "hot = live.hot\nwhile hot:\n    await a(); live.hot = hot": {"written back live.hot"},
    "hot = live.hot\nasync with a():\n    live.hot = hot": {"written back live.hot"},
    "hot = live.hot\ntry: await a()\nfinally: live.hot = hot": {"written back live.hot"},
    "await save(self._ahead); self._crashed = self._ahead": {"noted self._ahead"},
    "new = await step(self._shifts[n - 1], 2); self._stored[-1:] = [self._shifts[n - 1], new]": {
        "noted self._shifts[n - 1]"
    },
    "stored = await self._storage.get()\nif stored.version != live.version:\n"
    "    live.hot, live.version = stored.hot, stored.version": {"taken over live.hot"},
    "stored = await self._storage.get(); live.version = live.version if stored is None else stored.version": {
        "taken over live.version"
    },
    "await self._read(); self._stale = False": {"cleared self._stale"},
    "source = live.source; await a(); await storage.update(source)": {"passed on live.source"},
    "await a(); return [self._kept[id] for id in ids]": {"looked up self._kept"},
    "await a(); self._kept.move_to_end(1)": {"looked up self._kept"},
    "hot = live.hot; await a(); live.hot = later(live.hot, hot)": set(),
    "news = self._news; await send(news)\nif self._news is news: self._news = None": set(),
    "hot = live.hot; live.hot = replace(hot, looks=1); await a()": set(),
    "ahead = self._ahead; await save(ahead); self._crashed = ahead": set(),
    "stored = await self._storage.get(); live.hot = later(live.hot, stored.hot)": set(),
    "self._stale = False; await self._read()": set(),
    "id = live.source.id; await a(); await storage.update(id)": set(),
    "await a(); return [self._kept[id] for id in ids if id in self._kept]": set(),
    "await a(); self._kept[1] = 2; self._kept.move_to_end(1)": set(),
    "hot = live.hot\nif hot:\n    await a()\n    return\nlive.hot = hot": set(),
    "hot = live.hot\nwhile True:\n    await a()\n    if live.hot: break\nlive.hot = hot": set(),
}


def test_no_state_is_used_after_an_await_as_it_was_before() -> None:
    found = found_in("supervision", "storage", "actors", "extras")
    new = [f"{what} (line {line})" for what, line in found.items() if what not in REVIEWED]
    assert new == [], "read the state again after the await, or say in REVIEWED why nothing is lost"
    assert REVIEWED.keys() - found.keys() == set(), "the rule finds these no more: take them off the list"


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_rule_finds_old_stale_writes_and_no_fixed_ones(text: str) -> None:
    tree = ast.parse(f"class Actor:\n    async def f(self, live):\n{indent(text, ' ' * 8)}\n{OTHERS}")
    assert {what for _, what, _ in stale(tuple(ast.walk(tree)))} == EXAMPLES[text]
