"""Debian's HAProxy, nginx and Caddy before two services, with the exact text of docs/several-nodes.md."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import trio

from tests.e2e.fronts import CADDY, NGINX, Front, free_port, in_front, plain_nginx
from tests.e2e.service import Service, a_key, a_service
from tests.rules.source_files import ROOT
from tests.support.certificates import needs_openssl
from tests.support.waiting import HANG

pytestmark = [pytest.mark.real, needs_openssl]
PAGE = ROOT / "docs/several-nodes.md"
HAPROXY = Front("haproxy", lambda folder: ["-db", "-f", str(folder / "configuration")], lambda *_: "")


@dataclass(frozen=True)
class Printed:
    """A balancer with the page's text. `listens`: the listen directive in the text, and the one for this machine."""

    front: Front
    listens: tuple[str, str]

    def before(self, one: Service, other: Service) -> Front:
        """Return it with two services in place of its nodes."""
        return Front(
            self.front.name, self.front.arguments, lambda folder, _, port, __: self._text(folder, port, one, other)
        )

    def _text(self, folder: Path, port: int, one: Service, other: Service) -> str:
        (text,) = re.findall(rf"```{self.front.name}\n(.*?)```", PAGE.read_text("utf-8"), re.S)
        text = _changed(text, {self.listens[0]: self.listens[1].format(port=port)})
        for name, service in (("node1", one), ("node2", other)):
            text = _changed(text, {f"{name}:8080": service.url.removeprefix("http://")})
        if self.front is NGINX:
            return plain_nginx(folder, text)
        return "{\n admin off\n}\n" + text if self.front is CADDY else text


def _changed(text: str, changes: Mapping[str, str]) -> str:
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param(each, marks=pytest.mark.skipif(each.front.program is None, reason=f"no {each.front.name} here"))
        for each in (
            Printed(HAPROXY, ("bind :8080", "bind 127.0.0.1:{port}")),
            Printed(NGINX, ("listen 8080;", "listen 127.0.0.1:{port};")),
            Printed(CADDY, (":8080 {\n    reverse", "http://127.0.0.1:{port} {{\n    reverse")),
        )
    ],
    ids=lambda each: each.front.name,
)
async def test_a_balancer_of_the_page_leaves_out_a_node_that_stops(printed: Printed, tmp_path: Path) -> None:
    settings = {"SANDERLING_TRUSTED_PROXIES": "127.0.0.1/32"}
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(a_service(tmp_path / name, **settings)) for name in ("one", "other")
        ]
        port = free_port()
        await stack.enter_async_context(in_front(printed.before(one, other), tmp_path / "front", "", port))
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=HANG))
        keys = [a_key(tmp_path / name) for name in ("one", "other")]
        with trio.fail_after(HANG):
            reached = set[int]()
            while len(reached) < 2:  # each service knows only its own key
                reached |= {number for number, key in enumerate(keys) if await status(client, key) == 200}
            await one.end(signal.SIGTERM)
            while await status(client, keys[1]) != 200:
                pass  # the next request waits for the balancer
            assert {await status(client, keys[1]) for _ in range(20)} == {200}, "the other one answers alone"


async def status(client: httpx.AsyncClient, key: str) -> int:
    return (await client.get("/v1/sources", headers={"Authorization": f"Bearer {key}"})).status_code
