"""Three nodes behind Debian's Caddy, with the exact text of release/nodes/Caddyfile: users know one address."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trio
import yaml

from actors.setting_table import declared
from sanderling.client.api import Client
from sanderling.exits import Exit
from tests.e2e.fronts import CADDY, Front, free_port, in_front
from tests.e2e.origin import Origin
from tests.e2e.service import Service, a_service, add
from tests.e2e.test_postgres import a_key, told, variables
from tests.e2e.test_watching import checking, reading
from tests.rules.source_files import ROOT
from tests.support.certificates import needs_openssl
from tests.support.postgres import durable

FOLDER = ROOT / "release/nodes"
COMPOSED = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
NODES = ("node1", "node2", "node3")


def balancing(nodes: Sequence[Service]) -> Front:
    """Return Caddy with the file's text, with these nodes replacing the file's."""

    def configuration(_folder: Path, _service: str, port: int, _pair: tuple[Path, Path]) -> str:
        text = (FOLDER / "Caddyfile").read_text("utf-8")
        changes = {"\n:8080 {": f"\nhttp://127.0.0.1:{port} {{"}
        changes |= {f"{name}:8080": node.url.removeprefix("http://") for name, node in zip(NODES, nodes, strict=True)}
        for old, new in changes.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    return Front(CADDY.name, CADDY.arguments, configuration)


@pytest.mark.real
@needs_openssl
@pytest.mark.skipif(CADDY.program is None, reason="caddy is not installed")
async def test_a_client_of_the_balancer_misses_nothing_while_nodes_die(tmp_path: Path) -> None:
    named = await variables(tmp_path, durable())
    port, written = free_port(), Counter[str]()
    async with trio.open_nursery() as nursery, AsyncExitStack() as stack:
        origin = Origin()
        await nursery.start(origin.serve)
        nodes = [
            await stack.enter_async_context(a_service(tmp_path / name, SANDERLING_NODE_NAME=name, wait=False, **named))
            for name in NODES
        ]
        for node in nodes:
            await node.wait_ready()
        key = await a_key(tmp_path / NODES[0], named)
        await stack.enter_async_context(in_front(balancing(nodes), tmp_path / "front", "", port))
        client = await stack.enter_async_context(Client(f"http://127.0.0.1:{port}", key))
        source = await add(client, f"http://{origin.place}/feed")
        await stack.enter_async_context(checking(client, source["id"]))
        reader = await stack.enter_async_context(reading(client))
        for number, end in enumerate((signal.SIGKILL, signal.SIGTERM, None)):
            title = f"news {number}"
            origin.items.append(title)
            written[title] = 1
            await told(reader, written)
            if end is not None:
                code = await nodes[number].end(end)
                assert code == (Exit.WELL if end is signal.SIGTERM else -signal.SIGKILL)
        assert Counter(reader.titles) == written
        nursery.cancel_scope.cancel()


def test_the_nodes_of_the_example_differ_in_name_and_data_only_and_say_settings_that_exist() -> None:
    services = COMPOSED["services"]
    alike = []
    for name in NODES:
        node = dict(services[name])
        node.pop("build", None)
        environment = dict(node.pop("environment"))
        assert environment.pop("SANDERLING_NODE_NAME") == name
        socket, data = node.pop("volumes")
        assert (socket, data) == ("socket:/var/run/postgresql", f"{name}:/data")
        assert {word.removeprefix("SANDERLING_").lower() for word in environment} - {
            "master_key_file"
        } <= declared().keys()
        alike.append((node, environment))
    assert alike[0] == alike[1] == alike[2]
    node, environment = alike[0]
    files = {f"/run/secrets/{name}" for name in node["secrets"]}
    assert {environment["SANDERLING_STORAGE_URL_FILE"], environment["SANDERLING_MASTER_KEY_FILE"]} == files
    assert node["read_only"] and node["cap_drop"] == ["ALL"]
    assert set(COMPOSED["volumes"]) == {"socket", "database", *NODES}
    assert environment["SANDERLING_TRUSTED_PROXIES"] == COMPOSED["networks"]["default"]["ipam"]["config"][0]["subnet"]


def test_the_image_of_the_nodes_has_the_same_health_check_and_stop() -> None:
    theirs, own = ((ROOT / f"release/{name}").read_text("utf-8") for name in ("Containerfile", "nodes/Containerfile"))
    for line in (r"^USER .*$", r"^STOPSIGNAL .*$", r"^EXPOSE .*$", r"^HEALTHCHECK .*(?= CMD)", r"^CMD .*$"):
        (one,), (other,) = re.findall(line, theirs, re.M), re.findall(line, own, re.M)
        assert one == other
    assert "libpq5" in own and "sanderling check" in own
