"""The programs printed on the pages about receivers, as files; and the receivers among them, as processes."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sanderling.environment import environ
from tests.rules.source_files import ROOT

PAGES = [ROOT / f"docs/{page}.md" for page in ("receivers", "receiver-programs", "testing-receivers")]
_BLOCK = re.compile(r"^```(?:python|js|go|php|sh)\n((?:<\?php )?(?:#|//) ([\w.]+): .*?)^```$", re.M | re.S)
RUNTIMES = {".py": sys.executable, ".mjs": "node", ".go": "go", ".php": "php", ".sh": "sh"}


def programs() -> dict[str, str]:
    """Return each printed program under the name in its first line."""
    return {name: text for page in PAGES for text, name in _BLOCK.findall(page.read_text("utf-8"))}


def written(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(programs()[name], "utf-8")
    return path


def command(path: Path) -> list[str]:
    """Return the command line of a program; skips the test where its runtime is not installed."""
    runtime = shutil.which(RUNTIMES[path.suffix])
    if runtime is None:
        pytest.skip(f"{RUNTIMES[path.suffix]} is not installed here")
    if path.suffix == ".go":
        program = path.with_suffix("")
        subprocess.run([runtime, "build", "-o", str(program), str(path)], check=True)
        return [str(program)]
    return [runtime, str(path)]


@contextmanager
def running(folder: Path, name: str, modules: Path | None = None, **variables: str) -> Iterator[int]:
    """Run a receiver for the length of the block; yields its port. modules: packages of JavaScript."""
    if modules is not None and not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(modules / "node_modules")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {"PATH": environ()["PATH"], "HOME": str(folder), "PORT": str(port), **variables}
    environment["PYTHONPATH"] = str(ROOT / "clients/python/src")
    line = command(written(folder, name))
    if name.endswith(".php"):
        line[1:1] = ["-S", f"127.0.0.1:{port}"]
    process = subprocess.Popen(line, env=environment, cwd=folder)
    try:
        _wait(process, port)
        yield port
    finally:
        process.kill()
        process.wait(10)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(400):
        assert process.poll() is None, "the receiver did not start"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError("the receiver does not listen")


class Wire:
    """A client that sends any bytes as headers and body, and keeps its connection while it can."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def post(self, headers: dict[str, bytes], body: bytes) -> int:
        """Return the status of the answer, 0 when the connection closed without one."""
        lines = [b"POST /in HTTP/1.1", b"Host: here", b"Content-Length: %d" % len(body)]
        lines += [name.encode() + b": " + value for name, value in headers.items()]
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), 10)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._socket.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
            return self._answer()
        except (ConnectionError, EOFError):
            self.close()
            return 0

    def _answer(self) -> int:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, rest = data.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        while len(rest) < int(length[1]) if length else not rest.endswith(b"0\r\n\r\n") and b"chunked" in head:
            rest += self._more()
        if re.search(rb"(?i)\r\nconnection: *close", head) or head.startswith(b"HTTP/1.0"):
            self.close()
        return int(head.split(b" ")[1])

    def _more(self) -> bytes:
        assert self._socket is not None
        data = self._socket.recv(65536)
        if not data:
            raise EOFError
        return data

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None
