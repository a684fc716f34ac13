"""Rules for channels, shields and scopes, checked on the source of every room (P4 to P6, P10, P11, P13)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.rules.source_files import ROOMS, modules, name_of, nodes_of

SCOPES = {"CancelScope", "move_on_after", "move_on_at", "fail_after", "fail_at"}
TIMED = SCOPES - {"CancelScope"}
EXCUSED: dict[tuple[str, str], str] = {
    (
        "endless_shields",
        "actors/egress/websocket.py",
    ): "lasts as long as its session, whose end cancels it after a second: what comes until then is taken",
    (
        "endless_shields",
        "supervision/child.py",
    ): "gets its deadline from the stop: a broadcast becomes a sequence there",
    (
        "caught_cancellations",
        "sanderling/cli.py",
    ): "the process ends there; it makes the exit code of whatever ended it",
    (
        "caught_cancellations",
        "storage/sql/writing.py",
    ): "on a thread, where there are none: whatever ends it is told to the loop",
    ("shared_thread_slots", "storage/sqlite/database.py"): "once, before anything runs that could be starved",
    ("shared_thread_slots", "extras/cluster/postgres/database.py"): "once, before anything runs that could be starved",
}
"""(rule, file): why its one match is no offence."""

Rule = Callable[[Sequence[ast.AST]], Iterator[ast.AST]]


def last_name(node: ast.AST) -> str:
    """Return `c` for `a.b.c`, `c` for `c(...)` and `c[...]`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return last_name(inner)
    return ""


def is_true(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def is_infinite(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and last_name(node) == "float":
        return any(isinstance(arg, ast.Constant) and "inf" in str(arg.value) for arg in node.args)
    return last_name(node) in {"inf", "Infinity"}


def endless_channels(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        if not isinstance(node, ast.Call) or last_name(node) not in {"open_memory_channel", "Mailbox"}:
            continue
        if any(is_infinite(arg) for arg in (*node.args, *(word.value for word in node.keywords))):
            yield node


def endless_shields(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """An enclosing timeout does not count: a shield keeps an outer deadline from reaching in."""
    for node in nodes:
        if isinstance(node, ast.Call):
            words = {word.arg: word.value for word in node.keywords}
            if "shield" in words and not isinstance(words["shield"], ast.Constant | ast.Name):
                yield node
            deadline = words.get("deadline") or words.get("relative_deadline")
            timed = last_name(node) in TIMED and not any(is_infinite(arg) for arg in node.args)
            if is_true(words.get("shield", node)) and not timed and (deadline is None or is_infinite(deadline)):
                yield node
        if isinstance(node, ast.Assign) and "shield" in {last_name(target) for target in node.targets}:
            yield node


def channels_closed_by_async_with(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    ends: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and last_name(node.value) == "open_memory_channel":
            for target in node.targets:
                ends |= {last_name(end) for end in getattr(target, "elts", [target])}
    for node in nodes:
        if isinstance(node, ast.AsyncWith):
            for item in node.items:
                name = last_name(item.context_expr)
                if (
                    name in ends
                    or name in {"clone", "open_memory_channel"}
                    or name.endswith(("send_channel", "sender"))
                ):
                    yield node


def shared_thread_slots(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        if not isinstance(node, ast.Call) or last_name(node) != "run_sync":
            continue
        if ast.unparse(node.func).endswith("to_thread.run_sync") and "limiter" not in {
            word.arg for word in node.keywords
        }:
            yield node


def caught_cancellations(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            greedy = any(kind is None or last_name(kind) in {"BaseException", "Cancelled"} for kind in kinds)
            passes_on = any(isinstance(inner, ast.Raise) for part in node.body for inner in ast.walk(part))
            if greedy and not passes_on:
                yield node


def scopes_across_yield(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for function in nodes:
        if isinstance(function, ast.AsyncFunctionDef):
            if "asynccontextmanager" in {last_name(decorator) for decorator in function.decorator_list}:
                continue
            for block in own_nodes(function):
                if isinstance(block, ast.With | ast.AsyncWith):
                    opened = {last_name(item.context_expr) for item in block.items}
                    if opened & (SCOPES | {"open_nursery"}) and any(
                        isinstance(inner, ast.Yield) for inner in own_nodes(block)
                    ):
                        yield block


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Walk without entering nested functions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from own_nodes(child)


def offences(rule: Rule) -> list[str]:
    """Return the places that break a rule, as "file:line", without the excused."""
    found = []
    for path in modules(*ROOMS):
        if (rule.__name__, name_of(path)) not in EXCUSED:
            found += [f"{name_of(path)}:{getattr(node, 'lineno', 0)}" for node in rule(nodes_of(path))]
    return found


def test_every_excuse_is_still_needed() -> None:
    rules = {rule.__name__: rule for rule, _ in BAD}
    for (rule, file), reason in EXCUSED.items():
        assert reason
        path = next(path for path in modules(*ROOMS) if name_of(path) == file)
        assert len(list(rules[rule](nodes_of(path)))) == 1, f"{file} is excused from {rule} for one place"


def test_p4_every_channel_has_a_bound() -> None:
    assert offences(endless_channels) == []


def test_p5_no_code_swallows_a_cancellation() -> None:
    assert offences(caught_cancellations) == []


def test_p6_every_shield_has_a_deadline_of_its_own() -> None:
    assert offences(endless_shields) == []


def test_p10_no_thread_work_uses_the_shared_limiter() -> None:
    assert offences(shared_thread_slots) == []


def test_p11_no_scope_or_nursery_stays_open_across_a_yield() -> None:
    assert offences(scopes_across_yield) == []


def test_p13_no_channel_is_closed_by_async_with() -> None:
    assert offences(channels_closed_by_async_with) == []


BAD: list[tuple[Rule, str]] = [
    (endless_channels, "trio.open_memory_channel(math.inf)"),
    (endless_channels, "open_memory_channel[int](float('inf'))"),
    (endless_channels, "Mailbox('x', bound=inf)"),
    (endless_shields, "trio.CancelScope(shield=True)"),
    (endless_shields, "with trio.move_on_after(5):\n with trio.CancelScope(shield=True): pass"),
    (endless_shields, "trio.move_on_after(math.inf, shield=True)"),
    (endless_shields, "trio.CancelScope(shield=True, deadline=math.inf)"),
    (endless_shields, "scope.shield = True"),
    (channels_closed_by_async_with, "async def f():\n a, b = trio.open_memory_channel(1)\n async with a: pass"),
    (channels_closed_by_async_with, "async def f():\n async with self._sender.clone(): pass"),
    (shared_thread_slots, "trio.to_thread.run_sync(f, abandon_on_cancel=True)"),
    (caught_cancellations, "try: pass\nexcept BaseException: pass"),
    (caught_cancellations, "try: pass\nexcept: pass"),
    (caught_cancellations, "try: pass\nexcept (ValueError, trio.Cancelled): x = 1"),
    (scopes_across_yield, "async def f():\n async with trio.open_nursery() as n:\n  yield 1"),
    (scopes_across_yield, "async def f():\n while True:\n  with trio.move_on_after(1):\n   for x in y: yield x"),
]
GOOD: list[tuple[Rule, str]] = [
    (endless_channels, "trio.open_memory_channel(5)"),
    (endless_shields, "trio.move_on_after(2, shield=True)"),
    (endless_shields, "trio.CancelScope(shield=True, deadline=now + 2)"),
    (endless_shields, "trio.CancelScope(shield=False)"),
    (channels_closed_by_async_with, "async def f():\n a, b = trio.open_memory_channel(1)\n with a: pass"),
    (shared_thread_slots, "trio.to_thread.run_sync(f, limiter=own)"),
    (caught_cancellations, "try: pass\nexcept BaseException:\n undo()\n raise"),
    (caught_cancellations, "try: pass\nexcept Exception as e: crash = e"),
    (scopes_across_yield, "@asynccontextmanager\nasync def f():\n async with trio.open_nursery() as n:\n  yield n"),
    (scopes_across_yield, "async def f():\n with move_on_after(1): await g()\n yield 1"),
]


@pytest.mark.parametrize(("rule", "code"), BAD, ids=[code for _, code in BAD])
def test_each_rule_finds_its_violation(rule: Rule, code: str) -> None:
    assert list(rule([*ast.walk(ast.parse(code))]))


@pytest.mark.parametrize(("rule", "code"), GOOD, ids=[code for _, code in GOOD])
def test_each_rule_lets_the_right_form_pass(rule: Rule, code: str) -> None:
    assert not list(rule([*ast.walk(ast.parse(code))]))
