"""Debian's nginx and Caddy in front of a service, with the exact text of docs/proxies.md."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from tests.rules.source_files import ROOT
from tests.support.certificates import make_certificate, trusting
from tests.support.waiting import HANG

READ_TIMEOUT = 3
PLACES = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
_NGINX = """
daemon off; master_process off; worker_rlimit_nofile 256; pid {folder}/pid; error_log stderr warn;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {server}
}}
"""
_CADDY = """
{{
    admin off
    auto_https disable_redirects
    storage file_system {folder}/storage
    log {{
        level ERROR
    }}
}}
{server}
"""


@dataclass(frozen=True)
class Front:
    """A proxy: program, arguments, and a function from (folder, service, port, TLS files) to its configuration."""

    name: str
    arguments: Callable[[Path], Sequence[str]]
    configuration: Callable[[Path, str, int, tuple[Path, Path]], str]

    @property
    def program(self) -> str | None:
        """Its path, if installed."""
        return shutil.which(self.name, path=PLACES)


def _printed(language: str, changes: Mapping[str, str]) -> str:
    """Return the page's text with this machine's places in it."""
    page = (ROOT / "docs/proxies.md").read_text("utf-8")
    (text,) = re.findall(rf"```{language}\n(.*?)```", page, re.S)
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return str(text)


def plain_nginx(folder: Path, server: str) -> str:
    """Return a whole nginx configuration around some servers."""
    return _NGINX.format(folder=folder, server=server)


def _nginx(folder: Path, service: str, port: int, pair: tuple[Path, Path]) -> str:
    changes = {
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "http://127.0.0.1:8080": service,
        "/etc/letsencrypt/live/sanderling.example.org/fullchain.pem": str(pair[0]),
        "/etc/letsencrypt/live/sanderling.example.org/privkey.pem": str(pair[1]),
        "proxy_read_timeout 1h": f"proxy_read_timeout {READ_TIMEOUT}s",
    }
    return plain_nginx(folder, _printed("nginx", changes))


def _caddy(folder: Path, service: str, port: int, pair: tuple[Path, Path]) -> str:
    changes = {
        "sanderling.example.org {": f"https://localhost:{port} {{\n    bind 127.0.0.1\n    tls {pair[0]} {pair[1]}",
        "127.0.0.1:8080": service.removeprefix("http://"),
    }
    return _CADDY.format(folder=folder, server=_printed("caddy", changes))


NGINX = Front("nginx", lambda folder: ["-p", str(folder), "-e", "stderr", "-c", str(folder / "configuration")], _nginx)
CADDY = Front(
    "caddy", lambda folder: ["run", "--adapter", "caddyfile", "--config", str(folder / "configuration")], _caddy
)


def free_port() -> int:
    """Return a port that is free at this moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _configure(front: Front, folder: Path, service: str, port: int) -> Path:
    """Write the proxy's files; return its certificate."""
    folder.mkdir()
    pair = make_certificate(folder)
    (folder / "configuration").write_text(front.configuration(folder, service, port, pair))
    return pair[0]


@asynccontextmanager
async def in_front(front: Front, folder: Path, service: str, port: int) -> AsyncIterator[ssl.SSLContext]:
    """Run a proxy in front of a service, on a port of localhost; yields an SSL context that trusts its certificate."""
    certificate = _configure(front, folder, service, port)
    assert front.program is not None
    process = await trio.lowlevel.open_process(
        [front.program, *front.arguments(folder)], stderr=subprocess.PIPE, env={"HOME": str(folder), "PATH": PLACES}
    )
    try:
        with trio.fail_after(HANG):
            while True:
                assert process.poll() is None, await process.stderr.receive_some() if process.stderr else ""
                try:
                    await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await trio.sleep(0.05)
        yield trusting(certificate)
    finally:
        process.kill()
        with trio.move_on_after(HANG, shield=True):
            await process.wait()
