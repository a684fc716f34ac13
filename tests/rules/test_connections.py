from __future__ import annotations

import ast

import pytest

from tests.rules.source_files import ROOMS, modules, name_of, tree_of

OPENERS = {"open_tcp_stream", "open_ssl_over_tcp_stream", "create_connection", "SocketStream", "urlopen"}
CLIENTS = {"AsyncClient", "AsyncConnectionPool", "ConnectionPool", "HTTPConnection", "HTTPSConnection"}
HOMES = {
    "actors/egress/guard.py": "the door, which asks the connector for addresses that it has checked",
    "actors/egress/transport.py": "the real connector, and the pool whose every connection the guard opens",
    "actors/destination_kinds/email.py": "mail: asks the guard",
    "actors/jail/parent_process.py": "wraps its ends of pairs of sockets to workers, which lead nowhere else",
    "extras/browser/holder.py": "the socket of this machine behind which another unit holds the browser",
    "extras/cluster/postgres/engine.py": "the storage: asks the database that the owner has named",
    "extras/browser/real.py": "the browser whose address the owner has named",
    "extras/cluster/checks.py": "the doctor: asks the database that the owner has named",
    "extras/cluster/replica/place.py": "the replica: asks the S3 server that the owner has named",
    "sanderling/client/api.py": "the command: calls the user's own service",
}
"""file: why it may open connections."""


def openings(tree: ast.Module) -> set[str]:
    """Return the calls that open connections: those by name, and any object's `connect` but sqlite3's."""
    found = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in OPENERS | CLIENTS:
                found.add(name)
            case ast.Call(func=ast.Attribute(attr="connect") as call) if not ast.unparse(call).startswith("sqlite3."):
                found.add("connect")
    return found


def test_x1_nothing_but_egress_opens_a_connection() -> None:
    found = {name_of(path) for path in modules(*ROOMS) if openings(tree_of(path))}
    assert found - HOMES.keys() == set()
    assert HOMES.keys() - found == set(), "take these off the list"


@pytest.mark.parametrize(
    "planted",
    [
        "import trio\nasync def f(): await trio.open_tcp_stream('a', 80)",
        "import httpx\nhttpx.AsyncClient()",
        "from httpcore import AsyncConnectionPool\nAsyncConnectionPool()",
        "import urllib.request\nurllib.request.urlopen('http://a')",
        "async def f(sock): await sock.connect(('a', 80))",
    ],
)
def test_the_scan_sees_each_way_to_open_one(planted: str) -> None:
    assert openings(ast.parse(planted))
