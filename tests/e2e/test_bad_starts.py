"""A failed start prints the problem, the cause and the remedy; the exit code decides whether systemd restarts it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import trio

from sanderling.data_folder import STAGE
from sanderling.exits import Exit
from tests.e2e.service import a_key, a_service, run_command
from tests.support.waiting import HANG

pytestmark = pytest.mark.real


async def refusal(*arguments: str, **variables: str) -> tuple[int, str]:
    with trio.fail_after(HANG):
        done = await run_command(*arguments, **variables)
    return done.returncode, done.stderr.decode()


async def test_an_unknown_flag_is_a_usage_error() -> None:
    code, words = await refusal("serve", "--prot", "1")
    assert code == Exit.USAGE
    assert "--port" in words


async def test_a_bad_or_unknown_setting_is_64() -> None:
    assert (await refusal("serve", "--port", "-1"))[0] == Exit.BAD_SETTING
    code, words = await refusal("serve", SANDERLING_WOKERS="3")
    assert code == Exit.BAD_SETTING
    assert "SANDERLING_WORKERS" in words


async def test_a_host_that_is_not_ours_is_64(tmp_path: Path) -> None:
    code, words = await refusal("serve", "--host", "192.0.2.1", "--data", str(tmp_path))
    assert code == Exit.BAD_SETTING
    assert "192.0.2.1" in words


async def test_a_port_in_use_is_75_and_says_so(tmp_path: Path) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    code, words = await refusal("serve", "--port", str(port), "--data", str(tmp_path))
    await listener.aclose()
    assert code == Exit.TRY_AGAIN
    assert "in use" in words and "--port" in words


async def test_a_second_service_on_the_folder_is_78(tmp_path: Path) -> None:
    async with a_service(tmp_path):
        code, words = await refusal("serve", "--port", "0", "--data", str(tmp_path))
    assert code == Exit.BAD_DATA
    assert str(tmp_path) in words


async def test_a_folder_that_is_a_file_is_78(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, words = await refusal("serve", "--port", "0", "--data", str(tmp_path / "file"))
    assert code == Exit.BAD_DATA
    assert "--data" in words


async def test_a_folder_of_a_newer_version_is_78(tmp_path: Path) -> None:
    a_key(tmp_path)
    with sqlite3.connect(tmp_path / "sanderling.db") as database:
        database.execute("PRAGMA user_version = 9999")
    database.close()
    code, words = await refusal("serve", "--port", "0", "--data", str(tmp_path))
    assert code == Exit.BAD_DATA
    assert "newer" in words


async def test_a_service_that_is_not_there_is_69() -> None:
    code, words = await refusal("sources", "list", "--url", "http://127.0.0.1:9", SANDERLING_KEY="svc_x")
    assert code == Exit.UNREACHABLE
    assert "sanderling serve" in words


async def test_without_a_key_the_message_says_how_to_make_one_for_a_remote_service() -> None:
    code, words = await refusal("tail", "--url", "http://127.0.0.1:9")
    assert code == Exit.USAGE
    assert "SANDERLING_KEY" in words and "keys create" in words


async def test_without_a_key_and_an_address_the_message_says_how_to_start_the_service(tmp_path: Path) -> None:
    code, words = await refusal("tail", "--data", str(tmp_path))
    assert code == Exit.UNREACHABLE
    assert f"serve --data {tmp_path}" in words


async def test_a_folder_in_which_an_import_was_cut_off_is_78_and_says_both_ways_out(tmp_path: Path) -> None:
    (tmp_path / STAGE).mkdir()
    (tmp_path / STAGE / "sanderling.db").touch()
    code, words = await refusal("serve", "--port", "0", "--data", str(tmp_path))
    assert code == Exit.BAD_DATA
    assert "sanderling import" in words and f"delete {tmp_path / STAGE}" in words
