"""`release.verifying` on folders: whole, altered, incomplete, with extra files, signed by another key."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from release.signing import public_pem, written
from release.verifying import SIGNATURE, SUMS, fingerprint, run
from sanderling.exits import Exit

OURS, THEIRS = SigningKey(b"1" * 32), SigningKey(b"2" * 32)
FILES = {"sanderling_0.1.0-1_amd64.deb": b"a package", "NOTES.md": b"what is new"}


def sign(folder: Path, sums: str, key: SigningKey = OURS) -> None:
    (folder / SUMS).write_text(sums)
    (folder / SIGNATURE).write_bytes(key.sign(sums.encode()).signature)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release of two files, and the public key outside its folder."""
    made = tmp_path / "release"
    made.mkdir()
    for name, data in FILES.items():
        (made / name).write_bytes(data)
    sign(made, written({name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}))
    (tmp_path / "key.pem").write_text(public_pem(OURS.verify_key))
    return made


def checked(folder: Path, *paths: Path, more: tuple[str, ...] = ()) -> int:
    named = [str(path) for path in paths or (folder,)]
    return run([*named, "--key", str(folder.parent / "key.pem"), *more])


def test_a_release_that_is_whole_is_well_and_its_key_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(folder) == Exit.WELL
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        f"well  SHA256SUMS was signed by the key {fingerprint(OURS.verify_key)}",
        "well  NOTES.md is as it was released",
        "well  sanderling_0.1.0-1_amd64.deb is as it was released",
    ]
    assert said.err == "3 checked: 3 well, 0 not\n"


def test_an_altered_a_missing_and_an_extra_file_are_each_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "NOTES.md").write_bytes(b"what is knew")
    (folder / "sanderling_0.1.0-1_amd64.deb").unlink()
    (folder / "more\x1b[31m").write_bytes(b"")
    assert checked(folder) == Exit.FAILED
    said = capsys.readouterr()
    bad = [line for line in said.out.splitlines() if line.startswith("BAD")]
    assert len(bad) == 3 and "\x1b" not in said.out
    assert bad[0].startswith("BAD   NOTES.md is another file") and "more" in bad[1] and bad[2].endswith("is missing")
    assert said.err == "4 checked: 1 well, 3 not\n"


def test_some_files_are_checked_without_the_rest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "NOTES.md").unlink()
    (folder / "of-mine").write_bytes(b"")
    assert checked(folder, folder / "sanderling_0.1.0-1_amd64.deb", folder / SUMS, folder / SIGNATURE) == Exit.WELL
    assert capsys.readouterr().err == "2 checked: 2 well, 0 not\n"
    assert checked(folder, folder / "NOTES.md") == Exit.FAILED
    assert checked(folder, folder / "of-mine") == Exit.FAILED


def test_another_key_is_refused_and_nothing_is_believed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sign(folder, (folder / SUMS).read_text(), THEIRS)
    assert checked(folder) == Exit.FAILED
    assert capsys.readouterr().out == "BAD   SHA256SUMS was altered, or signed by another key: nothing was checked\n"


def test_sums_that_were_altered_are_refused(folder: Path) -> None:
    other = hashlib.sha256(b"another package").hexdigest()
    (folder / SUMS).write_text(written({"NOTES.md": other, "sanderling_0.1.0-1_amd64.deb": other}))
    assert checked(folder) == Exit.FAILED


@pytest.mark.parametrize("name", [SUMS, SIGNATURE])
def test_without_sums_or_signature_nothing_is_well(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).unlink()
    assert checked(folder, folder / "NOTES.md") == Exit.FAILED
    assert capsys.readouterr().out == f"BAD   {name} is missing: nothing was checked\n"


def test_a_signature_of_another_length_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / SIGNATURE).write_bytes(b"short")
    assert checked(folder) == Exit.FAILED
    assert "is no signature of 64 bytes" in capsys.readouterr().out


def test_signed_sums_that_lead_out_of_the_folder_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = folder.parent / "outside"
    outside.write_bytes(b"x")
    sign(folder, f"{hashlib.sha256(b'x').hexdigest()}  ../outside\n")
    assert checked(folder) == Exit.FAILED
    assert "names '../outside', which is no plain name of a file in this folder" in capsys.readouterr().out


def test_a_link_with_any_target_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "NOTES.md").rename(folder.parent / "notes")
    (folder / "NOTES.md").symlink_to("../notes")
    assert checked(folder) == Exit.FAILED
    assert "NOTES.md is a link" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["NOTES.md", SUMS, SIGNATURE])
def test_a_pipe_in_the_place_of_a_file_holds_nothing_up(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert checked(folder) == Exit.FAILED


def test_a_folder_in_the_folder_is_too_much(folder: Path) -> None:
    (folder / "sub").mkdir()
    assert checked(folder) == Exit.FAILED


def test_sums_without_an_end_are_not_read_through(folder: Path) -> None:
    os.truncate(folder / SUMS, 1 << 40)
    assert checked(folder) == Exit.FAILED


@pytest.mark.parametrize("text", [None, b"\xff", b"rubbish", b"x" * (2 << 20)])
def test_a_key_that_can_not_be_used_is_a_wrong_command(
    folder: Path, text: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    key = folder.parent / "key.pem"
    key.unlink() if text is None else key.write_bytes(text)
    assert checked(folder) == Exit.USAGE
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"sanderling: {key}: ")


def test_a_folder_that_can_not_be_listed_is_a_wrong_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(path: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("release.verifying.os.listdir", refused)
    assert checked(folder) == Exit.USAGE
    assert capsys.readouterr().err == f"sanderling: {folder}: its contents can't be listed: Permission denied.\n"


def test_files_of_two_folders_are_a_wrong_command(folder: Path) -> None:
    other = folder.parent / "other"
    other.mkdir()
    assert checked(folder, folder / "NOTES.md", other / "NOTES.md") == Exit.USAGE
    assert checked(folder, folder, other) == Exit.USAGE


def test_as_json_it_is_one_object_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "NOTES.md").unlink()
    assert checked(folder, more=("--json",)) == Exit.FAILED
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["file"], each["well"]) for each in found] == [
        (SUMS, True),
        ("NOTES.md", False),
        ("sanderling_0.1.0-1_amd64.deb", True),
    ]
    assert found[1]["why"] == "is missing"
