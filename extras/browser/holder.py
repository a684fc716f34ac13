"""The process that keeps a browser: it builds the walls around it, and ends it with all its processes.

The service starts it with a Unix socket as standard input, or systemd does from a socket unit; it reads no hostile
input. A browser is many processes that fork each other; this one reaps them all. When the socket closes, or the
browser itself ends, it kills the rest, deletes the browser's folder, and exits. It speaks lines of JSON:

service -> holder: {"start": {"slots": 5, "namespace": true, "sandbox": true}}, once, or {"probe": true}
holder -> service: {"up": {...}}, with the descriptors: where commands go, where messages come from, and the
                   listening sockets of the proxy, which are inside the walls
service -> holder: {"weigh": true}       holder -> service: {"weight": {"memory_kib": 1, "processes": 1}}
holder -> service: {"ended": "exit code 1: its last error"}, at the end

The service's side of a browser's holder: start, memory use, end. The holder's own side is `holder.py`.

Doors from a browser's pages to the guarded proxy: a listener each, or one shared gate with secrets.
"""

from __future__ import annotations

import array
import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import trio

from extras.browser.flags import command_line
from extras.browser.forward_proxy import ForwardProxy, ProxyGate, Slot
from extras.browser.leases import Lease
from extras.browser.wire import Door, Pipe
from sanderling.program import SOCKET

PREFIX: Final = "sanderling-browser-"
NOBODY: Final = 65534  # the user that runs a browser started by root
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_NEWUSER, _NEWNET = 0x10000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _UP = 0x8913, 0x8914, 0x1
_READ: Final = 1 << 16
_KEPT: Final = 4 << 10
_ROOM: Final = 256 << 20
_OPEN_FILES: Final = 4096
_KILLED_WITHIN: Final = 200  # rounds of killing and reaping, 10 ms each


def main(arguments: Sequence[str]) -> int:
    """Keep the browser at a path for the service at standard input. Returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the service decides about us
    control = socket.socket(fileno=os.dup(0))
    try:
        order = json.loads(_line(control))
        if "probe" in order:
            _say(control, {"probe": {"namespace": _tried(_NEWUSER | _NEWNET), "sandbox": _tried(_NEWUSER)}})
            return 0
        return _Holder(control, arguments[0], order["start"]).hold()
    except (BrokenPipeError, ConnectionResetError, ValueError, EOFError):
        return 1  # the service is gone, or was none


def _line(control: socket.socket) -> bytes:
    text = b""
    while not text.endswith(b"\n"):
        data = control.recv(1)
        if not data:
            raise EOFError
        text += data
    return text


def _say(control: socket.socket, what: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
    text = json.dumps(what).encode() + b"\n"
    if descriptors:
        socket.send_fds(control, [text], descriptors)
    else:
        control.sendall(text)


class _Holder:
    """One browser, from its start to the last of its processes."""

    def __init__(self, control: socket.socket, path: str, order: Mapping[str, Any]) -> None:
        self._control, self._path = control, path
        self._slots = int(order["slots"])
        self._namespace, self._sandbox = bool(order["namespace"]), bool(order["sandbox"])
        self._said = b""
        self._libc = ctypes.CDLL(None, use_errno=True)

    def hold(self) -> int:
        """Start the browser, serve the service until either ends, and clean up."""
        self._libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler there is no wakeup
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        sweep()
        folder = tempfile.mkdtemp(prefix=PREFIX)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            pid, complaints = self._start(folder)
            if pid:
                ended = self._serve(pid, complaints, woken)
                with suppress(BrokenPipeError, ConnectionResetError):
                    _say(self._control, {"ended": ended})
        finally:
            self._kill_all()
            _remove(folder)
            os.close(lock)
        return 0

    def _start(self, folder: str) -> tuple[int, int]:
        """Fork the browser and notify the service. Returns its process id, 0 if it did not start, and its errors."""
        their_commands, commands = os.pipe()
        messages, their_messages = os.pipe()
        complaints, their_complaints = os.pipe()
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            ours.close()
            self._be_browser(folder, theirs, (their_commands, their_messages, their_complaints), parent)
        theirs.close()
        for descriptor in (their_commands, their_messages, their_complaints):
            os.close(descriptor)
        word, listeners, _, _ = socket.recv_fds(ours, _READ, self._slots)
        ours.close()
        built = json.loads(word or b"{}")
        if "ports" not in built:
            said = built.get("failed") or os.read(complaints, _KEPT).decode(errors="replace").strip()
            _say(self._control, {"ended": said or "it did not start"})
            return 0, complaints
        _say(self._control, {"up": {"pid": pid, **built}}, [commands, messages, *listeners])
        for descriptor in (commands, messages, *listeners):
            os.close(descriptor)
        return pid, complaints

    def _be_browser(self, folder: str, word: socket.socket, pipes: Sequence[int], parent: int) -> NoReturn:
        """Build the walls and become the browser; the child's code ends here."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.setsid()
            try:
                self._shut_in(folder)
                listeners = [_listener() for _ in range(self._slots)]
            except OSError as error:
                word.sendall(json.dumps({"failed": f"{error.strerror or error}"}).encode())
                os._exit(1)
            ports = [listener.getsockname()[1] for listener in listeners]
            socket.send_fds(word, [json.dumps({"ports": ports}).encode()], [one.fileno() for one in listeners])
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:  # it has ended before we could ask for its death signal
                os._exit(1)
            self._become(folder, ports[0], pipes)
        except BaseException as error:  # this is a copy of the holder, which must not continue
            os.write(pipes[2], f"{type(error).__name__}: {error}"[:_KEPT].encode(errors="replace"))
            raise
        finally:
            os._exit(127)

    def _shut_in(self, folder: str) -> None:
        """Leave root and the network. Raises OSError."""
        libc, root = self._libc, os.geteuid() == 0
        mine = os.getuid(), os.getgid()
        if root:
            if self._namespace:
                _unshare(libc, _NEWNET)
                _raise_loopback()
            os.chown(folder, NOBODY, NOBODY)
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
        elif self._namespace:
            _unshare(libc, _NEWUSER | _NEWNET)
            libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # else /proc/self is root's
            Path("/proc/self/setgroups").write_bytes(b"deny")
            for name, number in zip(("uid_map", "gid_map"), mine, strict=True):
                Path(f"/proc/self/{name}").write_bytes(b"%d %d 1" % (number, number))
            _raise_loopback()

    def _become(self, folder: str, port: int, pipes: Sequence[int]) -> None:
        commands, messages, complaints = pipes
        command = command_line(
            self._path, port=port, profile=folder, sandbox=self._sandbox, shared_memory=_has_shared_memory()
        )
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_bytes(b"700")  # before the service
        os.nice(5)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = _OPEN_FILES if most == resource.RLIM_INFINITY else min(_OPEN_FILES, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 100) for descriptor in (commands, messages, complaints)]
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor, number in ((nothing, 0), (high[2], 1), (high[2], 2), (high[0], 3), (high[1], 4)):
            os.dup2(descriptor, number)
        os.closerange(5, _OPEN_FILES)
        os.chdir(folder)
        os.execve(command[0], list(command), _environment(folder))  # noqa: S606

    def _serve(self, pid: int, complaints: int, woken: int) -> str:
        """Serve the service until the browser has ended, and return how; "" when the service is gone."""
        os.set_blocking(complaints, False)
        heard = b""
        watched = [self._control.fileno(), woken, complaints]
        while True:
            ready, _, _ = select.select(watched, [], [])
            if complaints in ready and not self._listen(complaints):
                watched.remove(complaints)
            if woken in ready:
                os.read(woken, _READ)
                ended = _bury(pid)
                if ended is not None:
                    self._listen(complaints)
                    return ": ".join(filter(None, (ended, self._last_words())))
            if self._control.fileno() in ready:
                data = self._control.recv(_READ)
                if not data:
                    return ""
                *lines, heard = (heard + data).split(b"\n")
                for _ in lines:
                    _say(self._control, {"weight": weigh(os.getpid())})

    def _listen(self, complaints: int) -> bool:
        try:
            data = os.read(complaints, _READ)
        except BlockingIOError:
            return True
        self._said = (self._said + data)[-_KEPT:]
        return bool(data)

    def _last_words(self) -> str:
        lines = [line for line in self._said.decode(errors="replace").splitlines() if line.strip()]
        grave = [line for line in lines if "FATAL" in line or "rror while loading" in line]
        return (grave or lines or [""])[-1].strip()[:300]

    def _kill_all(self) -> None:
        for _ in range(_KILLED_WITHIN):
            for pid in descendants(os.getpid()):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            select.select([], [], [], 0.01)


def _environment(folder: str) -> dict[str, str]:
    names = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
    places = dict.fromkeys(names, folder)
    return places | {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}


def _has_shared_memory() -> bool:
    """Return whether /dev/shm has space; in containers it often has 64 MB, and tabs crash."""
    try:
        found = os.statvfs("/dev/shm")  # noqa: S108  # queried, not written to
    except OSError:
        return False
    return found.f_bavail * found.f_frsize >= _ROOM


def _listener() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def _unshare(libc: ctypes.CDLL, what: int) -> None:
    if libc.unshare(what):
        number = ctypes.get_errno()
        raise OSError(number, f"no namespace can be made: {os.strerror(number)}")


def _raise_loopback() -> None:
    with socket.socket() as any_socket:
        (flags,) = struct.unpack_from("16xh", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0)))
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


def _tried(what: int) -> str:
    """Return why the browser's user can't make these namespaces; "" if it can."""
    libc = ctypes.CDLL(None, use_errno=True)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                if what & _NEWNET:
                    _unshare(libc, _NEWNET)
                    os._exit(0)
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            _unshare(libc, what)
            code = 0
        except OSError as error:
            code = error.errno or 1
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return os.strerror(code) if code > 0 else "it died" if code else ""


def _bury(browser: int) -> str | None:
    """Reap ended processes. Returns how the browser ended, None while it runs."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return None
            if pid == browser:
                code = os.waitstatus_to_exitcode(status)
                return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
    except ChildProcessError:
        return "it is gone"


def descendants(top: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    todo = [top]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                yield int(name), int(Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[1])


def weigh(top: int) -> dict[str, int]:
    """Return the memory of all descendants of a process, with their share of shared pages if known."""
    below = descendants(top)
    return {"memory_kib": sum(map(_weight, below)), "processes": len(below)}


def _weight(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1])
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM):
            return 0
    try:  # a sandboxed process: its own pages only
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_bytes().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * (resource.getpagesize() >> 10)


def sweep() -> None:
    """Delete the folders of browsers whose holder was killed; a live holder has a lock on its own."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if os.geteuid() in (0, os.fstat(lock).st_uid):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(str(folder))
        except OSError:
            pass  # in use
        finally:
            os.close(lock)


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


_SECRET_SIZE: Final = 16


class OwnDoors:
    """Listeners on this machine, with ports, one for each concurrent page. The first refuses traffic of no page."""

    def __init__(self, listeners: Sequence[tuple[int, trio.SocketListener]]) -> None:
        self._listeners = listeners
        self._slots = [Slot() for _ in listeners]
        self._free = [(port, slot) for (port, _), slot in zip(listeners, self._slots, strict=True)][1:]

    def __repr__(self) -> str:
        return f"<OwnDoors {len(self._free)} of {len(self._listeners) - 1} free>"

    async def run(self, proxy: ForwardProxy) -> None:
        async with trio.open_nursery() as nursery:
            for (_, listener), slot in zip(self._listeners, self._slots, strict=True):
                nursery.start_soon(proxy.listen, listener, slot)

    @contextmanager
    def let(self, lease: Lease) -> Iterator[Door]:
        port, slot = self._free.pop()
        try:
            with slot.let(lease):
                yield Door(f"http://127.0.0.1:{port}")
        finally:
            self._free.append((port, slot))

    def close(self) -> None:
        for _, listener in self._listeners:
            listener.socket.close()


class GateDoors:
    """Doors behind a gate that others can reach: each page has its secret. address: as the browser reaches it."""

    def __init__(self, gate: ProxyGate, address: str, entropy: Callable[[int], bytes]) -> None:
        self._gate, self._address, self._entropy = gate, address, entropy

    def __repr__(self) -> str:
        return f"<GateDoors at {self._address}>"

    async def run(self, proxy: ForwardProxy) -> None:
        """Do nothing: the gate is served for all browsers together."""
        await trio.lowlevel.checkpoint()

    @contextmanager
    def let(self, lease: Lease) -> Iterator[Door]:
        secret = self._entropy(_SECRET_SIZE).hex()
        with self._gate.let(secret, lease):
            yield Door(f"http://{self._address}", secret)


UP_WITHIN: Final = 20.0
GONE_WITHIN: Final = 5.0
LAST_WORD_WITHIN: Final = 1.0
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
        await _end_process(self._process)


async def _end_process(process: trio.Process | None) -> None:
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
        await _end_process(process)
        raise NotUp(
            f"it is not up after {within:g} s" if isinstance(error, trio.TooSlowError) else str(error)
        ) from None
    except BaseException:
        control.close()
        with trio.CancelScope(deadline=trio.current_time() + GONE_WITHIN, shield=True):
            await _end_process(process)
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
            await _end_process(process)


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
