"""`sanderling verify`: every form of stored events, and clear errors for wrong files."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC
from pathlib import Path

import pytest

from actors.destination_kinds.webhook import to_cloudevent
from sanderling import cli
from sanderling.exits import Exit
from sanderling_client.receiver.capture import encode
from sanderling_client.receiver.checking import Means, check_all
from sanderling_client.receiver.report import Paper
from sanderling_client.receiver.terminal import USAGE, Failed
from tests.clients.receiver.deliveries import ANOTHER, BODY, ID, KEYS, NOW, SECRET, a_body, a_capture, headers

CAPTURE = encode(a_capture())
FORGED = BODY.replace(b"Ny text", b"Ny txet")


def checked(data: bytes, *, now: int = NOW, json_lines: bool = False) -> tuple[Counter[str], list[str]]:
    lines: list[str] = []
    means = Means((SECRET,), json.loads(KEYS), now)
    return check_all(data, means, Paper(width=120, zone=UTC), lines.append, json=json_lines), lines


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (BODY, 1),
        (b"\xef\xbb\xbf" + BODY, 1),
        (json.dumps(json.loads(BODY), indent=4).encode(), 1),
        (b"[%s,%s]" % (BODY, BODY), 2),
        (b'{"events":[%s,%s],"next_cursor":null}' % (BODY, BODY), 2),
        (b'{"id":"d","destination_id":"x","events":[%s]}' % BODY, 1),
        (to_cloudevent(ID, BODY), 1),
        (
            to_cloudevent(ID, BODY)
            + b"\n"
            + to_cloudevent(ID, b'{"destination_id":"x","events":[%s,%s]}' % (BODY, BODY)),
            3,
        ),
        (BODY + b"\n" + BODY + b"\r\n\n", 2),
        (b": keepalive\n\nretry: 3000\n\nevent: feed\ndata: " + BODY + b"\nid: 1\n\ndata: " + BODY, 2),
        (CAPTURE, 1),
        (b"[" + CAPTURE + b"," + CAPTURE + b"]", 2),
        (json.dumps(json.loads(CAPTURE)).encode() + b"\n" + BODY, 2),
    ],
    ids=[
        "event",
        "bom",
        "pretty",
        "list",
        "page",
        "digest",
        "cloudevents",
        "cloudevents lines",
        "ndjson",
        "sse",
        "capture",
        "captures",
        "mixed lines",
    ],
)
def test_every_stored_form_of_events_is_read(data: bytes, events: int) -> None:
    counts, lines = checked(data)
    assert counts == {"verified": events}, lines


def test_one_forged_event_among_many_is_named() -> None:
    counts, lines = checked(b"\n".join([BODY, a_body(title="Two"), FORGED]))
    assert counts == {"verified": 2, "failed": 1}
    assert lines[1].split() == ["verified", ID, "Two"]
    assert lines[2] == f"FAILED      {ID}  the signature does not match the event's content"


def test_a_broken_line_is_named_and_the_rest_is_checked() -> None:
    counts, lines = checked(BODY + b'\n{"cut\n7\n' + BODY)
    assert counts == {"verified": 2, "failed": 2}
    assert "line 2" in lines[1] and "not JSON" in lines[1]
    assert "line 3" in lines[2] and "a number" in lines[2]


def test_a_stored_capture_does_not_go_stale_but_one_without_a_time_does() -> None:
    assert checked(CAPTURE, now=NOW + 10**6)[0] == {"verified": 1}
    timeless = json.dumps({"headers": headers(), "body": BODY.decode()}).encode()
    assert checked(timeless, now=NOW + 299)[0] == {"verified": 1}
    assert checked(timeless, now=NOW + 301)[0] == {"failed": 1}


def test_a_capture_of_a_re_serialised_body_is_reported_as_such() -> None:
    body = json.dumps(json.loads(BODY)).encode()
    counts, lines = checked(encode(a_capture(body, headers(BODY))))
    assert counts == {"failed": 1}
    assert "re-serialised" in lines[0] and "verified" in lines[1]


def test_as_json_each_part_is_one_line() -> None:
    _, lines = checked(json.dumps(json.loads(CAPTURE)).encode() + b"\n" + FORGED, json_lines=True)
    found = [json.loads(line) for line in lines]
    assert (found[0]["webhook"]["cause"], found[1]["cause"], found[1]["id"]) == ("verified", "changed", ID)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"# Sanderling\n", "neither JSON"),
        (b"\x89PNG\r\n", "neither JSON"),
        (b"id,title\n1,2\n", "neither JSON"),
        (KEYS, "behind --jwks"),
        (b"[" * 100_000, "too deeply nested"),
        (b'{"a":1,"a":2}', "occurs twice"),
    ],
)
def test_a_file_of_another_kind_is_reported_in_words(data: bytes, words: str) -> None:
    with pytest.raises(Failed, match=words) as caught:
        checked(data)
    assert caught.value.exit_code == USAGE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SANDERLING_SECRET", raising=False)
    for name, data in {"keys": KEYS, "good": BODY, "forged": FORGED, "capture": CAPTURE}.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "secrets").write_text(f"{ANOTHER}\n{SECRET}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["good", "--jwks", "keys"], Exit.WELL),
        (["forged", "--jwks", "keys"], Exit.FAILED),
        (["capture", "--secret", SECRET], Exit.WELL),
        (["capture", "--secret-file", "secrets", "--jwks", "keys"], Exit.WELL),
        (["capture", "--secret", ANOTHER], Exit.FAILED),
        (["good", "--secret", SECRET], Exit.FAILED),
        (["good"], Exit.USAGE),
        (["absent", "--jwks", "keys"], Exit.USAGE),
        (["good", "--jwks", "absent"], Exit.USAGE),
        (["good", "--secret-file", "absent"], Exit.USAGE),
    ],
)
def test_the_exit_code_says_whether_everything_verified(folder: Path, arguments: list[str], code: Exit) -> None:
    files = {"good", "forged", "capture", "keys", "secrets", "absent"}
    line = [str(folder / word) if word in files else word for word in arguments]
    assert cli.run(["verify", *line]) == code
