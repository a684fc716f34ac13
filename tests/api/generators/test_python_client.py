"""openapi-python-client makes a typed client of our description, and that client works."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from api.openapi.document import ROUTES, document
from storage.records.identity import millis_of
from tests.api.house import House, ids
from tests.api.walk import all_routes

pytestmark = pytest.mark.real
NAME = "generated_client"


@contextmanager
def importable(folder: Path, package: str = NAME) -> Iterator[None]:
    """Make a package importable from a folder during the block, then unload it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Generate the client and yield the generator's output."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_bytes(msgspec.json.encode(document(all_routes(), "http://sanderling.test")))
    (folder / "config.yaml").write_text("post_hooks: []\n")
    words = ["generate", "--path", "openapi.json", "--config", "config.yaml", "--meta", "none", "--output-path", NAME]
    command = [sys.executable, "-m", "openapi_python_client", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with importable(folder):
        yield done.stdout


class Generated:
    """The generated client on a running front end; `ask("sources.add_source", body=...)` calls an operation."""

    def __init__(self, http: Any) -> None:
        client = import_module(f"{NAME}.client").Client(base_url="http://sanderling.test")
        self._client = client.set_async_httpx_client(http)

    async def ask(self, operation: str, *place: Any, **more: Any) -> Any:
        answer = await import_module(f"{NAME}.api.{operation}").asyncio_detailed(*place, client=self._client, **more)
        return answer.parsed

    @staticmethod
    def model(kind: str, **fields: Any) -> Any:
        return getattr(import_module(f"{NAME}.models"), kind)(**fields)


async def test_every_route_that_answers_json_is_an_operation_of_the_client(made: str) -> None:
    assert "warning" not in made.lower(), made
    root = Path(str(import_module(NAME).__path__[0])) / "api"
    operations = {path.stem for path in root.rglob("*.py") if path.stem != "__init__"}
    assert len(operations) == len(all_routes()) >= len(ROUTES)


async def test_it_reads_and_writes_and_problems_come_back_typed(made: str, house: House) -> None:
    client = Generated(await house.client())
    await house.publish("first", "second")

    source = await client.ask("sources.add_source", body=client.model("NewSource", url="https://new.example/feed"))
    assert isinstance(source.id, UUID) and source.url == "https://new.example/feed"
    assert source.id in [one.id for one in await client.ask("sources.list_sources")]
    assert (await client.ask("sources.read_source", source.id)).to_dict() == source.to_dict()

    alert = await client.ask("alerts.add_alert", body=client.model("NewAlert", filter_query="price", name="Prices"))
    new = client.model("NewDestination", url="https://hooks.example/in", digest_hour=7)
    destination = await client.ask("destinations.add_destination", alert.id, body=new)
    assert destination.secret.startswith("whsec_")
    assert (destination.digest_hour, destination.label) == (7, "hooks.example · Prices")
    wanted = client.model("ReplayRequestType1", ids=["not an event"])
    assert (
        await client.ask("destinations.replay", destination.id, body=wanted)
    ).status == 409  # its actor does not run here

    page = await client.ask("events.list_events", limit=1)
    assert [event.title for event in page.events] == ["first"]
    assert (await client.ask("events.list_events", cursor=page.next_cursor, limit=1)).events[0].title == "second"

    (template, *_) = await client.ask("templates.list_templates")
    assert (await client.ask("templates.read_template", template.slug)).sources

    missing = await client.ask("sources.read_source", UUID(int=7))
    assert (type(missing).__name__, missing.status) == ("Problem", 404)
    refused = await client.ask("alerts.add_alert", body=client.model("NewAlert", filter_query="(price"))
    assert (refused.status, refused.errors[0].location) == (400, "body.filter_query")


async def test_an_event_on_the_wire_is_an_event_of_the_client(made: str, house: House) -> None:
    (stored,) = await house.publish("first")
    event = import_module(f"{NAME}.models").Event.from_dict(json.loads(stored.body))
    assert [str(event.id)] == ids([stored])
    assert event.emitted_at == datetime.fromtimestamp(millis_of(stored.seq) / 1000, UTC)
    assert {**event.to_dict(), "fetched_at": "", "emitted_at": ""} == {
        **json.loads(stored.body),
        "fetched_at": "",
        "emitted_at": "",
    }
