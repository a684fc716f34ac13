"""The service's side of a browser's holder: start, memory use, end. The holder's own side is `holder.py`."""

from __future__ import annotations

import array
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import trio

from extras.browser.doors import OwnDoors
from extras.browser.wire import Pipe
from sanderling.program import SOCKET

UP_WITHIN: Final = 20.0
GONE_WITHIN: Final = 5.0
LAST_WORD_WITHIN: Final = 1.0
_READ: Final = 1 << 16
_READ_PIPE: Final = 1 << 18
_DESCRIPTOR: Final = array.array("i").itemsize


class NotUp(Exception):
    """The browser did not start; the text gives the reason."""


class Walls(NamedTuple):
    """A browser's confinement. namespace: a separate network with only the proxy's doors. sandbox: Chromium's own,
    around page processes. remote: it runs elsewhere, with unknown confinement.
    """

    namespace: bool
    sandbox: bool
    remote: bool = False


class Held:
    """A browser and its holder: a line on a pipe. doors: the proxy's listeners, inside the walls."""

    shared = False

    def __init__(
        self,
        process: trio.Process | None,
        control: trio.socket.SocketType,
        commands: trio.lowlevel.FdStream,
        messages: trio.lowlevel.FdStream,
        doors: OwnDoors,
    ) -> None:
        self._process, self._control = process, control
        self._commands, self._messages, self.doors = commands, messages, doors
        self._pipe = Pipe()
        self._heard = b""

    def __repr__(self) -> str:
        whom = "another unit" if self._process is None else self._process.pid
        return f"<Held by {whom}, {self.doors}>"

    async def send(self, texts: Sequence[bytes]) -> None:
        await self._commands.send_all(b"".join(text + b"\0" for text in texts))

    async def receive(self) -> Sequence[bytes] | None:
        """Return complete messages, None at the end. Raises BadMessage, and Broken- or ClosedResourceError."""
        data = await self._messages.receive_some(_READ_PIPE)
        return [*self._pipe.feed(bytes(data))] if data else None

    async def weigh(self) -> tuple[int, int]:
        """Return the browser's memory in KiB and the number of its processes. Raises OSError, NotUp when it is gone."""
        await self._control.send(b'{"weigh": true}\n')
        word = await self._word()
        if "weight" not in word:
            raise NotUp(str(word.get("ended", "the browser is gone")))
        return int(word["weight"]["memory_kib"]), int(word["weight"]["processes"])

    async def last_word(self) -> str:
        """Return how the browser ended, from its holder; "" if that does not reply in time."""
        with trio.move_on_after(LAST_WORD_WITHIN), suppress(OSError, ValueError):
            while word := await self._word():
                if "ended" in word:
                    return str(word["ended"])
        return ""

    async def _word(self) -> Mapping[str, Any]:
        """Return the holder's next message; an empty one when it is gone."""
        while b"\n" not in self._heard:
            data = await self._control.recv(_READ)
            if not data:
                return {}
            self._heard += data
        line, _, self._heard = self._heard.partition(b"\n")
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    async def aclose(self) -> None:
        self._control.close()
        for stream in (self._commands, self._messages):
            with trio.move_on_after(0, shield=True):  # a pipe closes at once
                await stream.aclose()
        self.doors.close()
        await _bury(self._process)


async def _bury(process: trio.Process | None) -> None:
    if process is None:
        return  # its starter waits for it
    with trio.move_on_after(GONE_WITHIN, shield=True):
        await process.wait()
    if process.returncode is None:
        process.kill()  # the kernel kills everything it held as well
        with trio.move_on_after(GONE_WITHIN, shield=True):
            await process.wait()


async def start(
    command: Sequence[str], environment: Mapping[str, str], walls: Walls, slots: int, within: float = UP_WITHIN
) -> Held:
    """Start a browser with doors for this many pages. Raises OSError, NotUp."""
    process, control = await _holder(command, environment)
    try:
        order = {"start": {"slots": slots + 1, "namespace": walls.namespace, "sandbox": walls.sandbox}}
        await control.send(json.dumps(order).encode() + b"\n")
        with trio.fail_after(within):
            text, beside, _, _ = await control.recvmsg(_READ, trio.socket.CMSG_SPACE((slots + 3) * _DESCRIPTOR))
        word = json.loads(text or b"{}")
        if "up" not in word:
            raise NotUp(str(word.get("ended") or "its holder ended"))
        passed = array.array("i")
        for level, kind, data in beside:
            if (level, kind) == (trio.socket.SOL_SOCKET, trio.socket.SCM_RIGHTS):
                passed.frombytes(data[: len(data) // _DESCRIPTOR * _DESCRIPTOR])
        for descriptor in passed:
            os.set_inheritable(descriptor, False)
        commands, messages, *listeners = passed
        doors = [
            (int(port), trio.SocketListener(trio.socket.socket(fileno=descriptor)))
            for port, descriptor in zip(word["up"]["ports"], listeners, strict=True)
        ]
        pipe = trio.lowlevel.FdStream(commands), trio.lowlevel.FdStream(messages)
        return Held(process, control, *pipe, OwnDoors(doors))
    except (trio.TooSlowError, ValueError) as error:
        control.close()
        await _bury(process)
        raise NotUp(
            f"it is not up after {within:g} s" if isinstance(error, trio.TooSlowError) else str(error)
        ) from None
    except BaseException:
        control.close()
        with trio.CancelScope(deadline=trio.current_time() + GONE_WITHIN, shield=True):
            await _bury(process)
        raise


async def probe(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str]:
    """Return why a network namespace, and Chromium's sandbox, are unavailable, else "". Raises OSError, NotUp."""
    process, control = await _holder(command, environment)
    try:
        await control.send(b'{"probe": true}\n')
        with trio.fail_after(UP_WITHIN):
            word = json.loads(await control.recv(_READ) or b"{}")
        if "probe" not in word:
            raise NotUp("the browser's holder process is silent")
        return str(word["probe"]["namespace"]), str(word["probe"]["sandbox"])
    except (trio.TooSlowError, ValueError) as error:
        raise NotUp(f"the browser's holder process does not answer: {error}") from None
    finally:
        control.close()
        with trio.CancelScope(deadline=trio.current_time() + GONE_WITHIN, shield=True):
            await _bury(process)


async def _holder(
    command: Sequence[str], environment: Mapping[str, str]
) -> tuple[trio.Process | None, trio.socket.SocketType]:
    """Return a new holder, started here or, if the command is a socket, by its listener."""
    if command[0].startswith(SOCKET):
        control = trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_STREAM)
        try:
            await control.connect(command[0].removeprefix(SOCKET))
        except BaseException:
            control.close()
            raise
        return None, control
    ours, theirs = trio.socket.socketpair()
    try:
        os.set_blocking(theirs.fileno(), True)
        process = await trio.lowlevel.open_process(
            list(command),
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours
