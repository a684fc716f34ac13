from __future__ import annotations

import subprocess

import pytest

from extras.inbox import screens
from extras.inbox.operations import Checked
from storage.records.bin import Capture
from storage.records.identity import Millis


def a_capture(body: bytes = b"", **changes: object) -> Capture:
    plain = {"id": "1", "received_at": Millis(0), "method": "POST", "path": "/bins/x", "query": "", "headers": ()}
    return Capture(**{**plain, "body": body, "size": len(body), **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ok", "cause", "word", "mood"),
    [
        (True, "verified", "verified", "good"),
        (False, "wrong_secret", "invalid", "bad"),
        (False, "no_signature", "no signature", "bad"),
        (None, "not_checked", "not checked", "calm"),
    ],
)
def test_a_verdict_is_a_word_never_a_colour_alone(ok: bool | None, cause: str, word: str, mood: str) -> None:
    assert screens.badge(Checked(ok=ok, cause=cause, why="so")) == (word, mood, "so")


def test_the_command_is_safe_to_paste_for_any_capture() -> None:
    nasty = "'; touch /tmp/owned; echo '$(id) `id` \\ \" \n#"
    capture = a_capture(nasty.encode(), query="a=$(id)", headers=(("x-a", nasty.replace("\n", " ")),))
    command = screens.curl("http://127.0.0.1:1/bins/x", capture)
    done = subprocess.run(
        ["sh", "-c", command.replace("curl", "printf '%s\\n'", 1)], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith(f"--data-binary\n{nasty}\n")
    assert "uid=" not in done.stdout


def test_bytes_go_through_base64() -> None:
    assert screens.curl("http://h/bins/x", a_capture(b"\xff")).startswith("printf %s /w== | base64 -d | curl -X POST")


def test_a_body_that_was_cut_has_no_command() -> None:
    assert screens.curl("http://h/bins/x", a_capture(b"a", truncated=True)) == ""
