"""openapi-generator makes a Python client of our description, and that client works."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
import trio

from api.openapi.document import document
from tests.api.generators.test_python_client import importable
from tests.api.house import ids, on_loopback
from tests.api.walk import all_routes

pytestmark = pytest.mark.real
NAME = "openapi_generated"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Generate the client and yield its folder. The generator's package brings Java."""
    folder = tmp_path_factory.mktemp("openapi-generator")
    (folder / "openapi.json").write_bytes(msgspec.json.encode(document(all_routes(), "http://sanderling.test")))
    program = Path(sys.executable).with_name("openapi-generator-cli")
    command = [str(program), "generate", "-i", "openapi.json", "-g", "python", "-o", "made"]
    command += [
        "--package-name",
        NAME,
        "--global-property",
        "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    shutil.rmtree(folder / "made" / "docs", ignore_errors=True)
    with importable(folder / "made", NAME):
        yield folder / "made" / NAME


def test_every_operation_is_a_method(made: Path) -> None:
    api = import_module(NAME)
    classes = [getattr(api, name) for name in dir(api) if name.endswith("Api")]
    methods = {name for one in classes for name in vars(one) if not name.startswith("_")}
    assert len([name for name in methods if f"{name}_with_http_info" in methods]) == len(all_routes())


async def test_it_reads_and_writes_and_problems_come_back_as_documents(made: Path) -> None:
    async with on_loopback() as (house, port):
        events = await house.publish("first", "second")
        key = await house.key()
        await trio.to_thread.run_sync(_use, f"http://127.0.0.1:{port}", key, ids(events))


def _use(url: str, key: str, there: list[str]) -> None:
    api: Any = import_module(NAME)
    with api.ApiClient(api.Configuration(host=url, access_token=key)) as client:
        sources = api.SourcesApi(client)
        body = api.AddSourceRequest(api.NewSource(url="https://new.example/feed"))
        source = sources.add_source(body).actual_instance
        assert source.url == "https://new.example/feed"
        assert source.id in [one.id for one in sources.list_sources()]
        alert = api.AlertsApi(client).add_alert(api.NewAlert(filter_query="price", name="Prices"))
        wanted = api.NewDestination(url="https://hooks.example/in", digest_hour=7)
        made = api.DestinationsApi(client).add_destination(alert.id, wanted)
        assert made.secret.startswith("whsec_") and made.digest_hour == 7
        page = api.EventsApi(client).list_events(limit=1)
        assert [str(event.id) for event in page.events] == there[:1]
        with pytest.raises(api.exceptions.NotFoundException) as missing:
            sources.read_source(UUID(int=7))
        assert (missing.value.status, missing.value.data.title) == (404, "Not found")
