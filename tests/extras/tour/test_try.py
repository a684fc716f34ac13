"""`sanderling try` shows a change, its event, both signatures and a delivery, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import trio

from actors.signatures import Signer, jwks, new_signing_key
from extras.tour import tour
from sanderling.environment import environ
from sanderling_client.verify import Cause, check_encoded
from tests.actors.signatures.events import an_event
from tests.e2e.service import run_command
from tests.rules.source_files import ROOT
from tests.support.build import NOW
from tests.support.waiting import HANG


def left_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@pytest.mark.real
async def test_it_shows_everything_within_a_minute_and_leaves_nothing(tmp_path: Path) -> None:
    with trio.fail_after(HANG):
        done = await run_command("try", TMPDIR=str(tmp_path))
    shown = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode() + shown
    for words in (
        "/practice/page",
        "Evidence: an HTML document",
        'The fare "Single, adult" went from 18.00 to 21.70 euro.',
        "18.00 euro → 21.70 euro · Single, adult",
        "verified: signed with key",
        "With one digit altered: changed:",
        "The change scored",
        "webhook signature (HMAC): verified",
        "event signature: verified",
        "\n  bin/sanderling serve\n  bin/sanderling add https://example.org/news\n  bin/sanderling tail\n",
    ):
        assert words in shown, shown
    assert left_in(tmp_path) == []


@pytest.mark.real
async def test_keep_keeps_the_service_until_ctrl_c_and_the_folder_for_good(tmp_path: Path) -> None:
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "sanderling", "try", "--keep"],
        cwd=ROOT,
        env={**environ(), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    said = b""
    with trio.fail_after(HANG):
        async for chunk in process.stdout:
            said += chunk
            if b"until Ctrl-C" in said:
                process.send_signal(signal.SIGINT)
                break
        async for chunk in process.stdout:
            said += chunk
        assert await process.wait() == 0
    (folder,) = left_in(tmp_path)
    assert f"sanderling serve --data {folder}".encode() in said
    assert left_in(folder)


def test_a_forged_event_is_refused_for_its_content() -> None:
    key = new_signing_key(bytes(32), NOW)
    body = Signer(key).sign(an_event(), NOW)
    assert check_encoded(body, jwks([key])).valid
    assert check_encoded(tour._forged(body), jwks([key])).cause is Cause.CHANGED
    assert msgspec.json.decode(body)["signature"] == msgspec.json.decode(tour._forged(body))["signature"]
