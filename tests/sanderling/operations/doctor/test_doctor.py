"""The doctor finds each trouble, names the remedy, and changes nothing; also on a folder where everything is wrong."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from actors.setting_table import with_values
from actors.settings import Settings
from actors.world import ResolveFailed
from extras.browser import real
from extras.browser.real import real_browser
from extras.cluster import checks
from extras.cluster.postgres import engine as examining
from sanderling.data_folder import STAGE
from sanderling.exits import Exit
from sanderling.operations import doctor
from sanderling.operations import doctor as rounds
from sanderling.operations.doctor import QUESTIONS, findings
from sanderling.operations.findings import DoctorContext, Finding
from storage.errors import Corrupt, DiskFull
from storage.records.identity import Millis
from storage.records.source import SourceRuntime, SourceState
from storage.secrets import written
from storage.sqlite import open_keys
from storage.sqlite.engine import DATABASE, MARK, STEPS
from storage.sqlite.master_key import NEXT, OWN
from tests.e2e.service import a_key, a_service, run_command
from tests.storage.contract.builders import a_publication, a_signing_key, an_alert
from tests.storage.contract.engines import ENGINES, PostgresEngine
from tests.support.build import a_source, a_source_id
from tests.support.certificates import make_certificate, needs_openssl
from tests.support.postgres import cluster

pytestmark = pytest.mark.real
NO_BROWSER = {"SANDERLING_BROWSER": "off"}


@pytest.fixture
def patient(tmp_path: Path) -> DoctorContext:
    """A healthy installation."""
    place = tmp_path / "data"
    a_key(place)
    return DoctorContext(Settings(data=str(place), port=0), place, {}, running=False, offline=True)


def with_settings(patient: DoctorContext, **changes: object) -> DoctorContext:
    return replace(patient, settings=with_values(patient.settings, **changes))


def worst(found: list[Finding]) -> Finding:
    return max(found, key=lambda finding: ("ok", "warn", "fail").index(finding.level))


def test_s5_a_kernel_without_the_jail_is_a_warning_or_a_failure_if_demanded() -> None:
    assert doctor.jail("", demanded=True).level == "ok"
    lacks = "no Landlock (Function not implemented)"
    wanted, demanded = doctor.jail(lacks, demanded=False), doctor.jail(lacks, demanded=True)
    assert (wanted.level, demanded.level) == ("warn", "fail")
    assert lacks in wanted.says and "5.13" in wanted.do and "does not start" in demanded.says


def test_a_healthy_folder_is_well(patient: DoctorContext) -> None:
    for question in (doctor.permissions, doctor.room, doctor.speed, doctor.database, doctor.guard, doctor.tls):
        assert {finding.level for finding in question(patient)} <= {"ok"}, question
    assert not [name for name in os.listdir(patient.folder) if name.startswith(".doctor")]


def test_x20_files_readable_by_others_are_found(patient: DoctorContext) -> None:
    (patient.folder / DATABASE).chmod(0o640)
    finding = worst(list(doctor.permissions(patient)))
    assert finding.level == "fail" and "0640" in finding.says and finding.do.startswith("chmod go-rwx")


def test_only_an_interrupted_import_is_reported(patient: DoctorContext) -> None:
    assert list(doctor.half_an_import(patient)) == []
    (patient.folder / STAGE).mkdir()
    (patient.folder / STAGE / DATABASE).touch()
    (finding,) = doctor.half_an_import(patient)
    assert finding.level == "fail" and "sanderling import" in finding.do


def test_x20_the_master_key_is_tested_on_sealed_values(patient: DoctorContext) -> None:
    """Nothing sealed yet; then with the folder's own key and another one named; then without the key."""
    named = replace(patient, variables={"SANDERLING_MASTER_KEY": written(b"n" * 32)})
    (finding,) = doctor.master_key(patient)
    assert finding.level == "warn" and "backups" in finding.says
    (finding,) = doctor.master_key(named)
    assert finding.level == "ok" and "opens" not in finding.says
    with open_keys(patient.folder) as keys:
        keys.add_signing(a_signing_key("k"))
    (finding,) = doctor.master_key(patient)
    assert finding.level == "warn" and "the folder's own opens them" in finding.says
    (finding,) = doctor.master_key(named)
    assert finding.level == "warn" and "rotate-master --to" in finding.do
    (patient.folder / OWN).rename(patient.folder / "elsewhere")
    for each in (patient, named):
        (finding,) = doctor.master_key(each)
        assert finding.level == "fail" and "SANDERLING_MASTER_KEY_FILE" in finding.do
    (patient.folder / "elsewhere").rename(patient.folder / OWN)
    with closing(sqlite3.connect(patient.folder / DATABASE)) as connection:
        connection.execute("UPDATE signing_key SET seed=x'01'")
        connection.commit()
    (finding,) = doctor.master_key(patient)
    assert finding.level == "fail" and "restore" in finding.do


@pytest.mark.parametrize("name", [DATABASE, OWN, NEXT])
def test_a_database_or_a_key_that_others_may_read_is_a_failure(name: str, patient: DoctorContext) -> None:
    (patient.folder / name).touch()
    (patient.folder / name).chmod(0o644)
    assert worst(list(doctor.permissions(patient))).level == "fail"


def test_a_damaged_database_is_named_with_the_way_out(patient: DoctorContext) -> None:
    path = patient.folder / DATABASE
    body = bytearray(path.read_bytes())
    body[4096 : 4096 * 3] = b"\xff" * 8192
    path.write_bytes(body)
    finding = worst(list(doctor.database(patient)))
    assert finding.level == "fail" and "restore" in finding.do


def test_a_newer_and_an_older_schema_get_different_messages(patient: DoctorContext) -> None:
    for schema, level in ((len(STEPS) + 1, "fail"), (len(STEPS) - 1, "ok")):
        with closing(sqlite3.connect(patient.folder / DATABASE)) as connection:
            connection.execute(f"PRAGMA user_version={schema}")
        assert worst(list(doctor.database(patient))).level == level


def test_a_log_behind_its_mark_is_reported(patient: DoctorContext) -> None:
    (patient.folder / MARK).write_text(f"{1_800_000_000_000 << 15:020d}\n")
    finding = worst(list(doctor.database(patient)))
    assert (finding.level, finding.what) == ("warn", "head mark") and "2027" in finding.says


def test_an_event_of_the_future_means_a_wrong_clock(patient: DoctorContext) -> None:
    with closing(sqlite3.connect(patient.folder / DATABASE)) as connection, connection:
        connection.execute("INSERT INTO log VALUES(?, 1, 0, 0, x'00')", (4_000_000_000_000 << 15,))
    finding = worst(list(doctor.database(patient)))
    assert (finding.level, finding.what) == ("fail", "clock")


def test_a_clock_that_went_back_is_seen_by_when_the_database_was_written(patient: DoctorContext) -> None:
    path, year = patient.folder / DATABASE, 365 * 86_400
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + year))
    finding = worst(list(doctor.database(patient)))
    assert (finding.level, finding.what) == ("fail", "clock") and "365 days" in finding.says


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "the disk is full"),
        (DiskFull("x"), "the disk is full"),
        (Corrupt("x"), "is damaged"),
        (ValueError("odd"), "ValueError: odd"),
    ],
)
async def test_a_question_that_breaks_is_a_finding_with_a_way_out(
    error: Exception, words: str, patient: DoctorContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_: DoctorContext) -> Iterator[Finding]:
        yield Finding("ok", "first", "said")
        raise error

    monkeypatch.setattr(rounds, "_questions", lambda settings: {"second": breaks})
    first, second = (await findings({"data": str(patient.folder)}, {}, None, True))[2:]
    assert (first.level, second.level, second.what) == ("ok", "fail", "second")
    assert words in second.says and second.do


def test_private_networks_that_are_open_are_a_warning(patient: DoctorContext) -> None:
    finding = worst(list(doctor.guard(with_settings(patient, allow_networks=("127.0.0.0/8", "169.254.0.0/16")))))
    assert finding.level == "warn" and "127.0.0.0/8" in finding.says


def test_the_guard_names_the_networks_that_settings_of_extras_open(patient: DoctorContext) -> None:
    finding = worst(list(doctor.guard(with_settings(patient, hub_networks=("10.2.0.0/16",)))))
    assert finding.says == "private addresses may be called back by the hub: 10.2.0.0/16"


@needs_openssl
def test_the_certificates_expiry_is_reported(patient: DoctorContext, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    sick = with_settings(patient, tls_cert=str(certificate), tls_key=str(key))
    finding = worst(list(doctor.tls(sick)))
    assert finding.level == "warn" and "1 days" in finding.says
    key.write_text("no key")
    assert worst(list(doctor.tls(sick))).level == "fail"


def test_keys_over_plain_http_and_untrusted_proxies_give_warnings(patient: DoctorContext) -> None:
    assert worst(list(doctor.tls(with_settings(patient, host="0.0.0.0")))).level == "warn"
    assert worst(list(doctor.proxies(with_settings(patient, base_url="https://a.example")))).level == "warn"
    assert worst(list(doctor.proxies(with_settings(patient, trusted_proxies=("0.0.0.0/0",))))).level == "fail"
    assert worst(list(doctor.proxies(replace(patient, variables={"HTTPS_PROXY": "http://p"})))).level == "warn"
    assert list(doctor.proxies(patient)) == []


async def test_a_port_in_use_is_found(patient: DoctorContext) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    taken = with_settings(patient, port=listener.socket.getsockname()[1])
    assert [finding.level async for finding in doctor.port(taken)] == ["fail"]
    assert [finding.level async for finding in doctor.port(replace(taken, running=True))] == ["ok"]
    beside = with_settings(patient, port=0, metrics_bind=f"127.0.0.1:{taken.settings.port}")
    assert [(finding.level, finding.do[-15:]) async for finding in doctor.port(beside)] == [
        ("ok", ""),
        ("fail", "--metrics-bind."),
    ]
    await listener.aclose()
    assert [finding.level async for finding in doctor.port(taken)] == ["ok"]


class Answers:
    """A resolver that knows one name, and never answers when broken."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken

    async def resolve(self, host: str) -> list[str]:
        if self.broken:
            raise ResolveFailed("no server answers", local=True)
        if host != "known.test":
            raise ResolveFailed("there is no such name", local=False)
        return ["192.0.2.1"]


@pytest.mark.parametrize(
    ("hosts", "broken", "level", "words"),
    [
        ((), False, "ok", "the resolver answers"),
        ((), True, "fail", "no server answers"),
        (("known.test",), False, "ok", "known.test"),
        (("known.test", "gone.test"), False, "warn", "gone.test does not resolve"),
        (("known.test",), True, "fail", "no server answers"),
    ],
)
async def test_only_host_names_of_own_sources_are_resolved(
    hosts: tuple[str, ...], broken: bool, level: str, words: str
) -> None:
    finding = await doctor.answered(hosts, Answers(broken=broken))
    assert (finding.level, finding.what) == (level, "names") and words in finding.says


def test_hosts_are_those_of_sources_that_have_a_name(patient: DoctorContext) -> None:
    urls = ["https://a.test/x", "https://a.test/y", "http://192.0.2.1/", "http://[2001:db8::1]/", "wss://b.test:444/"]
    with closing(sqlite3.connect(patient.folder / DATABASE)) as connection, connection:
        for number, url in enumerate(urls):
            connection.execute("INSERT INTO source_key VALUES(?, ?)", (number, str(number)))
            connection.execute("INSERT INTO source(key, url, body) VALUES(?, ?, x'00')", (number, url))
    assert doctor.watched_hosts(patient) == ["a.test", "b.test"]
    assert doctor.watched_hosts(replace(patient, folder=patient.folder / "none")) == ()


def test_the_clock_is_set_here(patient: DoctorContext) -> None:
    assert {finding.level for finding in doctor.clock(patient)} == {"ok"}


async def test_a_folder_with_many_faults_is_checked_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real, "real_browser", lambda settings: real_browser(with_values(settings, browser="off")))
    (tmp_path / "sanderling.toml").write_text("= =")
    (tmp_path / DATABASE).write_text("this is no database at all, is it?")
    found = await findings({"data": str(tmp_path)}, {"SANDERLING_MASTER_KEY": "nonsense"}, None, True)
    failed = {finding.what for finding in found if finding.level == "fail"}
    assert {"settings", "folder", "database", "master key"} <= failed
    assert all(finding.do for finding in found if finding.level != "ok")
    without = {"import", "names", "replica", "tls", "proxy"}
    assert {finding.what for finding in found} >= {*QUESTIONS, "browser"} - without


async def test_the_doctor_runs_while_the_service_runs(tmp_path: Path) -> None:
    with open_keys(tmp_path) as keys:
        keys.add_signing(a_signing_key("old"))
    async with a_service(tmp_path, **NO_BROWSER) as service:
        port = service.url.rpartition(":")[2]
        done = await run_command("doctor", "--offline", "--json", "--data", str(tmp_path), "--port", "1", **NO_BROWSER)
        report = json.loads(done.stdout)
        assert done.returncode == Exit.WELL, report
        says = {finding["what"]: finding["says"] for finding in report["findings"]}
        assert says["service"] == "ready" and "this shell differs in: port" in says["settings"]
        assert f"port {port} is in use by the running service" in says["port"]
        shown = await run_command("settings", "--data", str(tmp_path), "--port", "1", **NO_BROWSER)
        assert f"  port = {port}".encode() in shown.stderr.splitlines()
        assert await service.end() == Exit.WELL


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_sources_that_became_private_are_named_until_dismissed(patient: DoctorContext, kind: str) -> None:
    engine = ENGINES[kind](patient.folder)
    if isinstance(engine, PostgresEngine):
        there = f"postgresql://tests@/{cluster().fresh()}?host={cluster().folder}"
        patient = with_settings(patient, storage_url=there)

    def told() -> list[tuple[str, str]]:
        found = doctor.private_sources(patient) if kind == "sqlite" else checks.postgres(patient)
        return [(one.level, one.says) for one in found if one.what == "private"]

    assert not told()
    before, then, after = Millis(1), Millis(2), Millis(3)
    storage = await engine.start()
    try:
        for number, since in ((1, then), (2, None), (3, Millis(0))):
            state = SourceState(a_source_id(number), SourceRuntime(private_since=since))
            await storage.sources.add(a_source(number), state, storage.lease)
        await storage.publications.put(a_publication("one", updated_at=before))
        await storage.publications.put(a_publication("seen", updated_at=after))
        await storage.alerts.put(an_alert("prices", updated_at=before))
        await storage.alerts.put(an_alert("named", updated_at=before, private_source_ids=(a_source_id(1),)))
    finally:
        await storage.aclose()
    assert told() == [
        ("warn", f"the {face} leaves out sources that became private: https://site1.test/feed")
        for face in ("alert prices", "publication Title of one")
    ]


@pytest.mark.parametrize(("driver", "levels"), [("python", ["warn"]), ("binary", []), ("c", [])])
def test_the_driver_of_postgresql_in_python_is_warned_of(
    patient: DoctorContext, monkeypatch: pytest.MonkeyPatch, driver: str, levels: list[str]
) -> None:
    monkeypatch.setattr("psycopg.pq.__impl__", driver)
    monkeypatch.setattr(examining, "examine", lambda *_, **__: examining.Examination("PostgreSQL 15", [], 1, (), ""))
    engine: Any = SimpleNamespace(address=SimpleNamespace(url=""), listen=None, place="")
    found = checks._asked(patient, engine)
    assert [each.level for each in found if each.what == "PostgreSQL driver"] == levels
