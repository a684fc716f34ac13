"""Clock, chance, network and environment come from the World: no module reads them itself."""

from __future__ import annotations

import ast
import re

import pytest

from tests.rules.source_files import ROOMS, modules, name_of, names_used, tree_of

BANNED = re.compile(
    r"time\.(time|time_ns|monotonic|monotonic_ns|perf_counter|perf_counter_ns|sleep|localtime|gmtime)$"
    r"|datetime\.(datetime|date)\.(now|utcnow|today)$"
    r"|random\.(?!Random$)\w+$"
    r"|uuid\.uuid[14]$"
    r"|os\.(urandom|getrandom|environ|environb|getenv|getenvb)\b"
    r"|secrets\.\w+"
    r"|socket\.(?![A-Z_]+$)\w+"
)

ALLOWED = {
    "sanderling/environment.py": (r"os\.environ", "the one reader of the environment"),
    "sanderling/real_world.py": (
        r"time\.time|time\.monotonic|random\.SystemRandom|os\.urandom|socket\.\w+",
        "the one maker of the real World",
    ),
    "sanderling/client/api.py": (r"socket\.\w+", "a command as quick as may be, outside of any World"),
    "sanderling/serve.py": (r"socket\.socket", "one datagram to the service manager, outside of any World"),
    "actors/jail/parent.py": (r"socket\.\w+", "its end of a pair of sockets, in a process that no World reaches"),
    "extras/browser/holder.py": (r"socket\.\w+", "its end of a pair of sockets, in a process that no World reaches"),
    "extras/cluster/postgres/engine.py": (
        r"socket\.\w+",
        "cuts a line to the database, from another thread",
    ),
    "extras/browser/real.py": (
        r"socket\.gaierror",
        "an error of the real connector, which it is for browsers",
    ),
    "actors/egress/transport.py": (r"socket\.\w+", "the real connector and resolver, behind the World's ports"),
}
"""file: (the names it may use, why)."""


def offences(name: str, tree: ast.Module) -> list[str]:
    allowed, _reason = ALLOWED.get(name, (r"(?!)", ""))
    return [
        f"{name}:{line}: {used}"
        for line, used in names_used(tree)
        if BANNED.match(used) and not re.fullmatch(allowed, used.removesuffix(".get"))
    ]


def test_no_module_reads_clock_chance_network_or_environment_on_its_own() -> None:
    found = [line for path in modules(*ROOMS) for line in offences(name_of(path), tree_of(path))]
    assert found == []


def test_every_exception_to_the_rule_is_still_needed() -> None:
    for name, (allowed, _reason) in ALLOWED.items():
        path = next((path for path in modules(*ROOMS) if name_of(path) == name), None)
        assert path is not None, f"{name} is gone: take it off the list"
        assert any(re.fullmatch(allowed, used) for _, used in names_used(tree_of(path))), name


@pytest.mark.parametrize(
    "planted",
    [
        "import time\ntime.time()",
        "from time import monotonic as tick\ntick()",
        "import datetime as d\nd.datetime.now()",
        "from datetime import datetime\ndatetime.utcnow()",
        "import random\nrandom.choice('ab')",
        "from random import SystemRandom",
        "import uuid\nuuid.uuid4()",
        "import os\nos.environ.get('HOME')",
        "from os import urandom",
        "import secrets\nsecrets.token_hex()",
        "import socket\nsocket.getaddrinfo('a', 1)",
    ],
)
def test_the_scan_sees_each_way_to_break_the_rule(planted: str) -> None:
    assert offences("planted.py", ast.parse(planted))


def test_the_scan_lets_a_seeded_generator_pass() -> None:
    assert offences("planted.py", ast.parse("import random\nrandom.Random(7)\n")) == []
