"""Serving: one signal stops, two stop quickly; giving up exits with 70; the first start names the next command."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.settings import Settings
from sanderling import serve
from sanderling.data_folder import command_errors
from sanderling.environment import typed
from sanderling.exits import CommandFailed, Exit
from sanderling.operations import self_test as check
from sanderling.real_world import Listening
from sanderling.serve import _listen, _open, _run
from storage.errors import Corrupt, DiskFull
from supervision import Escalate
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG


class Tree:
    """A fake system: runs until stopped this many times, or escalates."""

    def __init__(self, stops: int = 1, fault: Escalate | None = None) -> None:
        self.asked: list[bool] = []
        self.up = trio.Event()
        self._stops, self._fault = stops, fault
        self._over = trio.Event()

    async def run(self) -> None:
        self.up.set()
        if self._fault is not None:
            raise self._fault
        await self._over.wait()

    def stop(self, *, now: bool = False) -> None:
        self.asked.append(now)
        if len(self.asked) == self._stops:
            self._over.set()


def quiet(_event: str, **_fields: Any) -> None:
    """A log without readers."""


async def run_under(tree: Tree, kill: Callable[[], None]) -> int:
    codes: list[int] = []

    async def run() -> None:
        codes.append(await _run(tree, quiet))  # type: ignore[arg-type]  # only the used parts of a System

    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await tree.up.wait()
            for _ in range(len(tree.asked), tree._stops):
                kill()
                await trio.sleep(0.01)
    return codes[0]


@pytest.mark.real
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_one_signal_stops_politely(number: int) -> None:
    tree = Tree()
    assert await run_under(tree, lambda: os.kill(os.getpid(), number)) == Exit.WELL
    assert tree.asked == [False]


@pytest.mark.real
async def test_the_second_signal_skips_politeness() -> None:
    tree = Tree(stops=2)
    assert await run_under(tree, lambda: os.kill(os.getpid(), signal.SIGTERM)) == Exit.WELL
    assert tree.asked == [False, True]


async def test_s5_a_tree_that_gives_up_is_70_and_says_why() -> None:
    said: list[tuple[str, dict[str, Any]]] = []
    tree = Tree(fault=Escalate("sanderling", "log", "the disk is gone"))
    code = await _run(tree, lambda event, **fields: said.append((event, fields)))  # type: ignore[arg-type]
    assert code == Exit.GAVE_UP
    assert ("serve.gave_up", {"level": "error", "why": "sanderling/log: the disk is gone"}) in said


@pytest.mark.real
@pytest.mark.parametrize("setting", ["wanted", "demanded"])
async def test_s5_a_required_but_missing_kernel_sandbox_refuses_the_start(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tried(variables: object) -> tuple[int, int, str]:
        return 3, 1 << 10, "no Landlock (Function not implemented)"

    monkeypatch.setattr(check, "tried", tried)
    if setting == "wanted":
        await serve._refuse_weak_jail(Settings(jail=setting))
        return
    with pytest.raises(CommandFailed, match="no Landlock") as refused:
        await serve._refuse_weak_jail(Settings(jail=setting))
    assert refused.value.code == Exit.BAD_SETTING


async def test_listeners_opened_early_are_handed_out_once() -> None:
    listening = Listening()
    settings = await _listen(listening, Settings(port=0, metrics_bind="127.0.0.1:0"))
    figures = settings.metrics_address()
    assert figures is not None and figures[1] not in (0, settings.port)
    (beside,) = await listening(*figures)
    (first,) = await listening("127.0.0.1", settings.port)
    assert isinstance(beside, trio.SocketListener) and isinstance(first, trio.SocketListener)
    assert [one.socket.getsockname()[1] for one in (beside, first)] == [
        figures[1],
        settings.port,
    ]
    with pytest.raises(CommandFailed, match=r"in use by another program.* choose with --metrics-bind"):
        await _open(listening, *figures, "--metrics-bind")
    await beside.aclose()
    await first.aclose()
    (second,) = await listening("127.0.0.1", settings.port)  # as after a restart of the front end
    assert second is not first
    await second.aclose()


@pytest.mark.real
async def test_a_host_name_that_is_none_is_a_bad_setting() -> None:
    with pytest.raises(CommandFailed, match="Can't listen") as caught:
        await _listen(Listening(), Settings(host="no such host"))
    assert caught.value.code == Exit.BAD_SETTING
    with pytest.raises(CommandFailed, match=r"Can't listen on 192\.0\.2\.1 .* --host 0\.0\.0\.0"):
        await _listen(Listening(), Settings(host="192.0.2.1", port=0))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (FileExistsError(17, "File exists"), "it is a file"),
        (PermissionError(13, "Permission denied"), "Make it writable"),
        (DiskFull("the disk is full"), "data: the disk is full. Free some room and try again"),
        (
            Corrupt("torn: put a backup in its place"),
            "is damaged: torn: put a backup in its place: sanderling restore FILE --replace --data ",
        ),
    ],
)
def test_a_bad_data_folder_is_reported_once_with_a_remedy(error: Exception, says: str) -> None:
    with pytest.raises(CommandFailed, match=says), command_errors(Path("data")):
        raise error


def test_hints_are_typed_as_they_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert typed("tail") == "bin/sanderling tail"
    assert typed("keys list", str(ROOT / "data")) == "bin/sanderling keys list"
    assert typed("keys list", "/elsewhere") == "bin/sanderling keys list --data /elsewhere"
    monkeypatch.chdir(Path("/"))
    assert typed("tail").endswith("bin/sanderling tail")
