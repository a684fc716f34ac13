"""Checks of the replica by the doctor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from actors.setting_table import with_values
from actors.settings import Settings
from extras.cluster.checks import replica
from extras.cluster.replica.log import FolderObjects
from extras.cluster.replica.parts import CURRENT, OWNER, Current, Owner, written_record
from extras.cluster.replica.shipping import REPLICA
from sanderling.operations.findings import DoctorContext, Finding
from storage.records.identity import Millis
from storage.sqlite.master_key import make_own
from tests.e2e.service import a_key

pytestmark = pytest.mark.real


async def test_a_configured_replica_is_checked(tmp_path: Path) -> None:
    data = tmp_path / "data"
    a_key(data)

    async def asked(place: str) -> list[Finding]:
        context = DoctorContext(
            with_values(Settings(), data=str(data), replica=place), data, {}, running=False, offline=True
        )
        return [finding async for finding in replica(context)]

    assert await asked("") == [] and await asked("s3://tides") == [], "it is offline"
    (finding,) = await asked(str(tmp_path / "unmounted"))
    assert finding.level == "fail" and "mount its disk" in finding.says
    place = tmp_path / "replica"
    place.mkdir()
    (finding,) = await asked(str(place))
    assert (finding.level, finding.says) == ("ok", f"{place}: nothing is there yet")
    assert os.listdir(place) == []
    objects, key = FolderObjects(place), make_own(data).mac_key(REPLICA)
    await objects.put(OWNER, written_record(OWNER, Owner(1, 1, "shore1", Millis(0)), key))
    await objects.put(CURRENT, written_record(CURRENT, Current("chain-1", 3, Millis(1_800_000_000_000)), key))
    (finding,) = await asked(str(place))
    assert finding.says == f"{place}: of shore1, all up to 2027-01-15T08:00:00.000Z"
    await objects.put(OWNER, b"rubbish")
    (finding,) = await asked(str(place))
    assert finding.level == "fail" and finding.says.startswith("owner: was not made with the master key")
