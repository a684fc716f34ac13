"""`make release`'s functions make a folder that `release.verifying` accepts; nothing is built here."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from release import making
from release.signing import public_pem
from release.statement import Origin
from release.verifying import run
from sanderling import __version__
from sanderling.exits import Exit
from tests.release.test_keys import PRIVATE, PUBLIC
from tests.rules.source_files import ROOT

WHEEL, SDIST = f"sanderling-{__version__}-py3-none-any.whl", f"sanderling-{__version__}.tar.gz"
STATEMENT = f"sanderling-{__version__}-linux-{platform.machine()}.provenance.json"
ORIGIN = Origin("c" * 40, changed=False, version=__version__)


@pytest.fixture(autouse=True)
def checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout of a commit, independent of changes in this one."""
    monkeypatch.setattr(making, "_origin", lambda: ORIGIN)


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """The files of a build: some of them are released."""
    made = tmp_path / "dist"
    made.mkdir()
    for name in (WHEEL, SDIST, "SHA256SUMS", "sanderling-0.0.1.tar.gz"):
        (made / name).write_text(name)
    (made / "image").mkdir()
    (tmp_path / "key.pem").write_text(PRIVATE)
    (tmp_path / "public.pem").write_text(PUBLIC)
    return made


def checked(folder: Path, key: Path) -> int:
    return run([str(folder), "--key", str(key)])


def test_a_release_has_files_statement_notes_and_sums_and_names_missing_ones(
    dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    making.gather(dist, tmp_path / "release")
    said = capsys.readouterr().out.splitlines()
    assert "not here: a .deb" in said and "not here: the wheel" not in said
    making.finish(tmp_path / "release", None)
    assert {path.name for path in (tmp_path / "release").iterdir()} >= {
        WHEEL,
        SDIST,
        STATEMENT,
        "NOTES.md",
        "SHA256SUMS",
    }
    assert "SHA256SUMS is not signed: RELEASE_KEY names no key." in capsys.readouterr().out
    assert not (tmp_path / "release/SHA256SUMS.sig").exists()


def test_a_signed_release_is_well_and_another_key_says_so(dist: Path, tmp_path: Path) -> None:
    making.gather(dist, tmp_path / "release")
    making.finish(tmp_path / "release", tmp_path / "key.pem")
    assert checked(tmp_path / "release", tmp_path / "public.pem") == Exit.WELL
    (tmp_path / "other.pem").write_text(public_pem(SigningKey(b"3" * 32).verify_key))
    assert checked(tmp_path / "release", tmp_path / "other.pem") == Exit.FAILED


def test_an_unsigned_release_in_the_place_of_a_signed_one_has_no_old_signature(dist: Path, tmp_path: Path) -> None:
    making.gather(dist, tmp_path / "release")
    making.finish(tmp_path / "release", tmp_path / "key.pem")
    making.finish(tmp_path / "release", None)
    assert not (tmp_path / "release/SHA256SUMS.sig").exists()


def test_a_release_made_twice_is_the_same_byte_for_byte(dist: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        making.gather(dist, tmp_path / name)
        making.finish(tmp_path / name, tmp_path / "key.pem")
    ones, twos = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert ones == twos


def test_the_statement_names_all_files_and_pins_and_nothing_of_this_machine(dist: Path, tmp_path: Path) -> None:
    making.gather(dist, tmp_path / "release")
    text = (tmp_path / "release" / STATEMENT).read_text()
    told = json.loads(text)
    assert [each["name"] for each in told["subject"]] == [WHEEL, SDIST]
    materials = [each["name"] for each in told["predicate"]["buildDefinition"]["resolvedDependencies"]]
    assert {f"requirements/{path.name}" for path in (ROOT / "requirements").glob("*.txt")} < set(materials)
    assert not [path for path in (ROOT, tmp_path) if str(path) in text]


def test_a_program_of_another_commit_is_not_released(dist: Path, tmp_path: Path) -> None:
    (dist / "sanderling").write_text('#!/bin/sh\necho \'{"build": "dddddddddddd"}\'\n')
    (dist / "sanderling").chmod(0o755)
    with pytest.raises(making.Refused, match="is of dddddddddddd, and this checkout of cccccccccccc: make binary"):
        making.gather(dist, tmp_path / "release")
    (dist / "sanderling").write_text('#!/bin/sh\necho \'{"build": "cccccccccccc"}\'\n')
    making.gather(dist, tmp_path / "release")
    assert (tmp_path / f"release/sanderling-{__version__}-linux-{platform.machine()}").stat().st_mode & 0o777 == 0o755


def test_a_folder_with_nothing_of_this_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sanderling-0.0.1.tar.gz").write_text("")
    with pytest.raises(making.Refused, match="nothing of"):
        making.gather(tmp_path, tmp_path / "release")


def test_a_build_of_a_changed_checkout_is_not_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key.pem").write_text(PRIVATE)
    making.ready(tmp_path / "key.pem")
    monkeypatch.setattr(making, "_origin", lambda: ORIGIN._replace(changed=True))
    with pytest.raises(making.Refused, match="changes that are in no commit"):
        making.ready(tmp_path / "key.pem")
    making.ready(None)


@pytest.mark.parametrize("text", [PUBLIC, "rubbish", None, "\xff"])
def test_a_wrong_key_is_refused_before_the_build(tmp_path: Path, text: str | None) -> None:
    key = tmp_path / "key.pem"
    if text is not None:
        key.write_text(text)
    with pytest.raises(making.Refused, match=r"key\.pem"):
        making.ready(key)


def test_the_files_of_two_machines_are_joined(dist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        making.gather(dist, tmp_path / machine)
        making.finish(tmp_path / machine, None)
    making.join(tmp_path / "all", [tmp_path / "x86_64", tmp_path / "aarch64"])
    making.finish(tmp_path / "all", tmp_path / "key.pem")
    names = {path.name for path in (tmp_path / "all").iterdir()}
    assert {f"sanderling-{__version__}-linux-{machine}.provenance.json" for machine in ("x86_64", "aarch64")} < names
    assert checked(tmp_path / "all", tmp_path / "public.pem") == Exit.WELL


def test_parts_that_differ_or_are_of_two_commits_are_not_joined(
    dist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    making.gather(dist, tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    (tmp_path / "two" / WHEEL).write_text("another")
    with pytest.raises(making.Refused, match=f"{WHEEL} is one file in"):
        making.join(tmp_path / "all", [tmp_path / "one", tmp_path / "two"])
    monkeypatch.setattr(making, "_origin", lambda: ORIGIN._replace(commit="d" * 40))
    monkeypatch.setattr(platform, "machine", lambda: "other")
    making.gather(dist, tmp_path / "two")
    with pytest.raises(making.Refused, match="of 2 commits"):
        making.join(tmp_path / "all", [tmp_path / "one", tmp_path / "two"])


URL = f"https://downloads.example.org/{__version__}"


def test_recipes_are_written_for_the_files_that_are_there(
    dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    making.gather(dist, tmp_path / "release")
    universal = f"sanderling-{__version__}-linux-x86_64-universal"
    (tmp_path / "release" / universal).write_bytes(b"program")
    making.finish(tmp_path / "release", None, f"{URL}/")
    flake = (tmp_path / "release/flake.nix").read_text()
    assert f'"{URL}/{universal}"' in flake and hashlib.sha256(b"program").hexdigest() in flake
    assert not (tmp_path / "release/sanderling.rb").exists()
    stem = f"sanderling-{__version__}-linux"
    assert f"no sanderling.rb: it needs {stem}-x86_64 and {stem}-aarch64." in capsys.readouterr().out
    assert "flake.nix" in (tmp_path / "release/SHA256SUMS").read_text()
    making.finish(tmp_path / "release", None)
    assert "no sanderling.rb and no flake.nix: RELEASE_URL names no address." in capsys.readouterr().out
    assert not (tmp_path / "release/flake.nix").exists()


@pytest.mark.parametrize("url", ["http://downloads.example.org", "https://example.org/#{x}", "file:///tmp", "x"])
def test_an_address_of_no_use_is_refused_before_the_build(url: str) -> None:
    with pytest.raises(making.Refused, match=r"RELEASE_URL: .* is no https address"):
        making.main(["ready", "--url", url])
    making.main(["ready", "--url", URL])


@pytest.mark.parametrize("line", ["ready more", "gather one", "join one", "finish"])
def test_an_act_without_its_folders_is_refused(line: str) -> None:
    with pytest.raises(making.Refused, match="these are not the folders"):
        making.main(line.split())


@pytest.mark.real
def test_make_release_refuses_a_wrong_key_before_it_builds(tmp_path: Path) -> None:
    done = subprocess.run(
        ["make", "-s", "-n", "release", f"RELEASE_KEY={tmp_path}/key.pem"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    first = next(index for index, line in enumerate(lines) if "release.making ready" in line)
    assert lines[first].split("ready ")[1].split() == ["--key", f"{tmp_path}/key.pem"]
    assert first < next(index for index, line in enumerate(lines) if "release/build.sh" in line)
