"""`sanderling check`: test whether this build is complete.

For frozen forms, where a missing library, data file or dynamically imported module stays unnoticed until used. Needs no
network, data folder or configuration, and changes nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
import sqlite3
import ssl
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from zoneinfo import ZoneInfo

import msgspec
import trio

from actors.extras import TABLE
from actors.extras import extra as extra_of
from sanderling.exits import Exit
from sanderling.operations.findings import Finding, tell

WITHIN = 60.0
DEADLINE_MS = 20_000
AT = datetime(2026, 7, 1, 12, tzinfo=UTC)
ROOMS = ("supervision", "storage", "actors", "api", "sanderling", "extras")
MATERIAL = files("sanderling.operations.material")
_URL = "https://sanderling.example/"
_ENTRY_POINTS = ("__main__",)

Look = Callable[[], Awaitable[str]]


def check(variables: Mapping[str, str], *, as_json: bool) -> Exit:

    async def findings() -> Sequence[Finding]:
        return [await found(what, look) for what, look in looks(variables).items()]

    return tell(trio.run(findings), as_json=as_json)


def looks(variables: Mapping[str, str]) -> Mapping[str, Look]:
    async def worker() -> str:
        entries, memory_kib, lacks = await tried(variables)
        held = lacks or "held by Landlock and seccomp"
        return f"a feed of {entries} entries and a page read in the jail, {memory_kib >> 10} MiB, {held}"

    return {
        "imports": _imports,
        "dashboard": _dashboard,
        "templates": _templates,
        "stop lists": _stop_lists,
        "stemmers": _stemmers,
        "certificates": _certificates,
        "time zones": _time_zones,
        "database": _database,
        "signatures": _signatures,
        "worker": worker,
        **{what: look for extra in map(extra_of, TABLE) for what, look in extra.self_tests().items()},
    }


async def found(what: str, look: Look) -> Finding:
    try:
        with trio.fail_after(WITHIN):
            return Finding("ok", what, await look())
    except Exception as error:
        return Finding("fail", what, f"{type(error).__name__}: {error}", "This build is incomplete. Use another one.")


async def _imports() -> str:
    count = 0
    left_out = tuple(room for row in TABLE.values() for room, lib in row.from_the_system.items() if not is_there(lib))
    for room in ROOMS:
        package = importlib.import_module(room)
        for module in pkgutil.walk_packages(package.__path__, room + "."):
            if module.name.rpartition(".")[2] not in _ENTRY_POINTS and not module.name.startswith(left_out):
                importlib.import_module(module.name)
                count += 1
    return f"{count} modules, Python {sys.version.split()[0]}"


def is_there(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


async def _dashboard() -> str:
    from api.dashboard.rendering import MEDIA, asset, environment

    weight = sum(len(asset(name).body) for name in MEDIA)
    pages = environment().list_templates()
    for name in pages:
        environment().get_template(name)
    if not weight or not pages:
        raise LookupError("there are no pages")
    shown = environment().from_string("<b>{{ text }}</b>").render(text="<å>")
    if shown != "<b>&lt;å&gt;</b>":
        raise ValueError(f"a page is rendered as {shown!r}")
    return f"{len(pages)} pages compiled, {len(MEDIA)} static files"


async def _templates() -> str:
    from actors.templates.template import built_in

    return ", ".join(template.id for template in built_in())


async def _stop_lists() -> str:
    from actors.content.pages.page import stop_words

    if "och" not in stop_words("Swedish"):
        raise LookupError("the Swedish stop list is not there")
    return f"{len(stop_words('English'))} English, {len(stop_words('Swedish'))} Swedish words"


async def _stemmers() -> str:
    from actors.query import AnalysedText, languages, matches, parse

    if not matches(parse("upphandling", "sv"), AnalysedText("", "Två upphandlingar avgjordes.")):
        raise ValueError("a Swedish word does not find its plural")
    return f"{len(languages())} languages"


async def _certificates() -> str:
    import certifi

    context = ssl.create_default_context(cafile=certifi.where())
    return f"{len(context.get_ca_certs())} authorities, {ssl.OPENSSL_VERSION}"


async def _time_zones() -> str:
    # Use the package: the machine may have no time zones.
    with files("tzdata.zoneinfo.Europe").joinpath("Stockholm").open("rb") as data:
        zone = ZoneInfo.from_file(data, "Europe/Stockholm")
    if AT.astimezone(zone).hour != AT.hour + 2:
        raise ValueError("Stockholm has no summer time")
    return "Stockholm keeps its summer time"


async def _database() -> str:
    from storage.sqlite.engine import STEPS, migrate

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        connection.execute("DROP TABLE words")
        migrate(connection)
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if schema != len(STEPS):
        raise ValueError(f"schema {schema} instead of {len(STEPS)}")
    return f"SQLite {sqlite3.sqlite_version} with FTS5, schema {schema}"


async def _signatures() -> str:
    from actors.signatures import Signer, jwks, new_signing_key
    from sanderling_client.verify import check_encoded
    from storage.records.event import Event
    from storage.records.identity import Millis

    key = new_signing_key(bytes(range(32)), Millis(0))
    event = msgspec.json.decode(MATERIAL.joinpath("event.json").read_bytes(), type=Event)
    verdict = check_encoded(Signer(key).sign(event, Millis(0)), jwks([key]))
    if not verdict.valid:
        raise ValueError(f"an event that was signed does not verify: {verdict.reason}")
    return "an event signed and verified (Ed25519)"


async def tried(variables: Mapping[str, str]) -> tuple[int, int, str]:
    """Let a worker read a feed and a page. Returns the feed's entries, memory in KiB, and missing parts of its jail."""
    from actors.content.messages import BodyRequest, FeedReading, PageLook, PageRequest
    from actors.jail.framing import Task
    from actors.jail.parent_process import run_in_one_worker
    from actors.settings import Settings
    from sanderling.program import worker_command, worker_environment

    feed, page = (MATERIAL.joinpath(name).read_bytes() for name in ("notes.xml", "harbour-1.html"))
    tasks = [
        Task("look_feed", DEADLINE_MS, msgspec.msgpack.encode(BodyRequest(feed, "text/xml", _URL))),
        Task("look_page", DEADLINE_MS, msgspec.msgpack.encode(PageRequest(page, "text/html", _URL))),
    ]
    memory = Settings().worker_memory
    (first, second), worker = await run_in_one_worker(worker_command(), worker_environment(variables), memory, tasks)
    read = msgspec.msgpack.decode(first, type=FeedReading)
    look = msgspec.msgpack.decode(second, type=PageLook)
    if not read.entries or look.kind != "baseline":
        raise ValueError(f"{len(read.entries)} entries of a feed, a page is {look.kind}")
    return len(read.entries), worker.memory_kib, worker.missing
