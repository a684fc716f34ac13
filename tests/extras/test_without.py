"""The product works without each extra: a copy of the project loses its folder and its row, then starts and works."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
import trio

from actors.extras import TABLE, extra
from actors.setting_table import declared
from sanderling.client.api import Client
from sanderling.environment import variable
from sanderling.exits import CommandFailed, Exit
from tests.e2e.origin import Origin
from tests.e2e.service import a_key, a_service, add, run_command
from tests.e2e.test_watching import reading
from tests.rules.source_files import ROOMS, ROOT

pytestmark = pytest.mark.real


def without(modules: Iterable[str], project: Path) -> Path:
    """Copy the rooms of the product, then remove extras: their folders, and their rows in the table."""
    for room in (*ROOMS, "sanderling_client", "docs"):
        shutil.copytree(ROOT / room, project / room)  # with the compiled modules, whose sources keep their times
    table = project / "actors/extras.py"
    for module in modules:
        shutil.rmtree(project / module.replace(".", "/"))
        table.write_text(without_row(module, table.read_text("utf-8")), "utf-8")
    return project


def without_row(module: str, source: str) -> str:
    """Return the source of the table without the row of an extra."""
    rows = next(
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "TABLE"
    )
    assert isinstance(rows, ast.Dict)
    key, row = next(
        (key, row)
        for key, row in zip(rows.keys, rows.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == module
    )
    lines = source.splitlines(keepends=True)
    del lines[key.lineno - 1 : row.end_lineno]
    return "".join(lines)


async def one_event(folder: Path, project: Path, missing: Iterable[str]) -> None:
    """Start the service of a project, add a loopback source, and wait for its event in the log.

    A source that needs a missing extra is refused by name. The routes of missing extras are absent.
    """
    gone = {route.path for module in missing for routes in extra(module).routes().values() for route in routes}
    origin, key = Origin(), a_key(folder)
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with (
            a_service(folder, PYTHONPATH=str(project)) as service,
            Client(service.url, key) as client,
            reading(client) as reader,
        ):
            assert not gone & (await client.ask("GET", "/openapi.json")).json()["paths"].keys()
            source = await add(client, f"ws://{origin.place}/socket", filter="sanderlings")
            origin.say(json.dumps({"id": "1", "title": "two sanderlings", "text": "on the wire"}))
            event = await reader.wait_for(lambda event: event["source_id"] == source["id"])
            assert event["title"] == "two sanderlings"
            if "extras.browser" in missing:
                with pytest.raises(CommandFailed, match="lacks the extra that renders pages"):
                    await add(client, f"http://{origin.place}/page", render="always")
            assert await service.end() == 0
        nursery.cancel_scope.cancel()


def a_data_folder(place: Path) -> Path:
    folder = place / "data"
    folder.mkdir(0o700)
    return folder


async def no_settings_of(missing: Iterable[str], project: Path) -> None:
    """Check that a project has no setting of the missing extras."""
    names = [name for name, one in declared().items() if one.record.__module__.rpartition(".")[0] in missing]
    listed = await run_command("settings", "--json", PYTHONPATH=str(project))
    assert listed.returncode == 0 and not {*names} & json.loads(listed.stdout).keys()
    for name in names[:1]:
        refused = await run_command("settings", **{variable(name): "", "PYTHONPATH": str(project)})
        assert refused.returncode == Exit.BAD_SETTING and "there is no such setting" in refused.stderr.decode()


async def works(place: Path, project: Path, missing: Iterable[str]) -> None:
    """Check that a project lists no command of the missing extras, and that its service carries an event."""
    helped = await run_command("--help", PYTHONPATH=str(project))
    assert helped.returncode == 0, helped.stderr.decode()
    gone = [name for module in missing for name in TABLE[module].commands]
    assert not [name for name in gone if f"\n  {name} " in helped.stdout.decode()]
    await no_settings_of(missing, project)
    await one_event(a_data_folder(place), project, missing)


async def test_without_any_extra_the_program_starts_and_carries_an_event(tmp_path: Path) -> None:
    await works(tmp_path, without(TABLE, tmp_path / "project"), TABLE)


@pytest.mark.parametrize("module", TABLE)
async def test_without_one_extra_the_rest_is_complete_and_carries_an_event(module: str, tmp_path: Path) -> None:
    project = without([module], tmp_path / "project")
    await works(tmp_path, project, [module])
    checked = await run_command("check", PYTHONPATH=str(project))
    assert checked.returncode == 0, checked.stdout.decode()
