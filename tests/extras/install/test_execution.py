"""Installing into a folder used as the root, and removing from it."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path

import pytest

from extras.install.execution import Hand, cut, look
from extras.install.plan import Amend, FoundInstallation, Note, Run, Write
from extras.install.units import SYSTEM
from sanderling import program
from sanderling.cli import run
from sanderling.exits import CommandFailed, Exit

VERSION = "0.1.0-checkout"
MODULES = b"# " + b"the modules " * 1000
pytestmark = pytest.mark.real  # runs the installed files once


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make this process look like the one-file form, unpacked where only its owner may read."""
    inside = tmp_path / "_MEI1"
    (inside / "api").mkdir(parents=True)
    (inside / "api" / "page.html").write_text("page")
    (inside / "launcher").mkdir()
    carry(inside, "#!/bin/sh\n")
    inside.chmod(0o700)
    monkeypatch.setattr(sys, "_MEIPASS", str(inside), raising=False)
    (tmp_path / "one-file").write_bytes(b"its loader" + MODULES + b"its archive")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "one-file"))
    return inside


def carry(inside: Path, launcher: str) -> None:
    """Put the parts of a launcher, here a script with modules behind it."""
    script = f"{launcher}exit\n".encode()
    for name, data in cut(script + MODULES + b"its end", len(script), len(script + MODULES)).items():
        (inside / "launcher" / name).write_bytes(data)


def files(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in sorted(root.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_the_one_file_becomes_the_directory_and_the_second_time_changes_nothing(frozen: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    assert run(["install", "--prefix", str(root)]) == Exit.WELL
    laid = root / "opt/sanderling" / VERSION
    assert (laid / "_internal/api/page.html").read_text() == "page"
    assert not (laid / "_internal/launcher").exists()
    assert laid.stat().st_mode & 0o777 == 0o755 and (laid / "sanderling").stat().st_mode & 0o777 == 0o755
    assert (root / "var/lib/sanderling").stat().st_mode & 0o777 == 0o700
    before = files(root)
    assert before["opt/sanderling/current"] == f"-> {VERSION}"
    assert before["usr/local/bin/sanderling"] == "-> /opt/sanderling/current/sanderling"
    assert run(["install", "--prefix", str(root)]) == Exit.WELL
    assert files(root) == before


def test_a_program_that_is_not_whole_is_not_laid_out(
    frozen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "one-file"
    program.write_bytes(program.read_bytes().replace(b"modules the modules", b"modules The modules", 1))
    assert run(["install", "--prefix", str(tmp_path / "root")]) == Exit.BAD_DATA
    assert "download it again" in capsys.readouterr().err
    assert not (tmp_path / "root/opt/sanderling/current").exists()


def test_an_edited_file_survives_upgrade_and_removal(frozen: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    run(["install", "--prefix", str(root)])
    settings, unit = root / "etc/sanderling/sanderling.env", root / "etc/systemd/system/sanderling.service"
    settings.write_text("SANDERLING_PORT=9000\n")
    unit.write_text(unit.read_text().replace("WatchdogSec=60s", "WatchdogSec=90s"))
    run(["install", "--prefix", str(root)])
    assert settings.read_text() == "SANDERLING_PORT=9000\n"
    assert "WatchdogSec=90s" in unit.read_text()
    assert "WatchdogSec=60s" in unit.with_name("sanderling.service.new").read_text()
    (root / "var/lib/sanderling/sanderling.db").write_text("data")
    assert run(["uninstall", "--prefix", str(root)]) == Exit.WELL
    assert unit.is_file() and settings.is_file() and (root / "var/lib/sanderling/sanderling.db").is_file()
    assert not (root / "opt/sanderling").exists()


@pytest.mark.parametrize(
    ("launcher", "why"),
    [
        ("#!/bin/sh\necho 'too old' >&2\nexit 1\n", "too old"),
        ("#!/nowhere/loader\n", "its C library"),
    ],
)
def test_a_binary_that_does_not_run_here_changes_nothing(
    frozen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], launcher: str, why: str
) -> None:
    root = tmp_path / "root"
    run(["install", "--prefix", str(root)])
    before = files(root)
    (root / "opt/sanderling" / VERSION).rename(root / "opt/sanderling/0.0.9-old")
    carry(frozen, launcher)
    assert run(["install", "--prefix", str(root)]) == Exit.FAILED
    assert why in capsys.readouterr().err
    (root / "opt/sanderling/0.0.9-old").rename(root / "opt/sanderling" / VERSION)
    assert files(root) == before


def test_an_upgrade_that_fails_after_the_switch_names_the_way_back(
    frozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    run(["install", "--prefix", str(root)])
    programs = root / "opt/sanderling"
    (programs / VERSION).rename(programs / "0.0.9-old")
    (programs / "current").unlink()
    (programs / "current").symlink_to("0.0.9-old")
    unit = root / "etc/systemd/system/sanderling.service"
    unit.unlink()
    unit.parent.rmdir()
    unit.parent.write_text("in the way")
    capsys.readouterr()
    assert run(["install", "--prefix", str(root)]) == Exit.FAILED
    assert capsys.readouterr().err.endswith(
        "The way back to the version before: /opt/sanderling/previous/sanderling install\n"
    )


def test_purge_leaves_nothing(frozen: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    run(["install", "--prefix", str(root)])
    assert run(["uninstall", "--purge", "--prefix", str(root)]) == Exit.WELL
    assert files(root) == {}


def test_a_dry_run_prints_every_act_and_does_none(
    frozen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    assert run(["install", "--dry-run", "--prefix", str(root)]) == Exit.WELL
    told = capsys.readouterr().out
    assert "lay out the program in /opt/sanderling" in told and "write /etc/sanderling/sanderling.env" in told
    assert not root.exists()


def test_a_checkout_has_nothing_to_lay_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["install", "--prefix", str(tmp_path / "root")]) == Exit.BAD_SETTING
    assert "make binary" in capsys.readouterr().err


def test_a_packaged_program_leaves_it_to_the_package_manager(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/lib/sanderling/sanderling")
    assert run(["install", "--dry-run"]) == Exit.USAGE
    assert "package" in capsys.readouterr().err


def test_an_act_that_fails_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "etc").write_text("in the way")
    hand = Hand(tmp_path, {})
    with pytest.raises(Exception, match=r"Could not write /etc/x/unit: (File exists|Not a directory)"):
        hand.do((Write(SYSTEM.unit.parents[2] / "x/unit", "text"),))


def test_a_full_disk_is_reported_in_one_line_and_leaves_nothing_half(
    frozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(source: str, target: str, **_more: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), source, None, target)

    monkeypatch.setattr(shutil, "copyfile", full)
    root = tmp_path / "root"
    assert run(["install", "--prefix", str(root)]) == Exit.FAILED
    told = capsys.readouterr().err
    assert "No space left on device. Fix that" in told and len(told) < 200
    assert list((root / "opt/sanderling").iterdir()) == []


def test_a_program_of_the_system_is_run_and_its_failure_reported(tmp_path: Path) -> None:
    hand = Hand(tmp_path, {"PATH": "/usr/bin:/bin"})
    hand.do((Run(("false",), may_fail=True), Run(("no-such-program",), may_fail=True), Run(("true",))))
    with pytest.raises(Exception, match="Could not run false: rc 1"):
        hand.do((Run(("false",)),))


def test_an_unfinished_step_is_found_until_done(tmp_path: Path) -> None:
    hand = Hand(tmp_path, {"PATH": "/usr/bin:/bin"})
    note = Note(SYSTEM.owed, "first start")
    with pytest.raises(CommandFailed):
        hand.do((note, Run(("false",)), Note(SYSTEM.owed, "")))
    assert look(SYSTEM, tmp_path).owed == "first start"
    hand.do((note, Run(("true",)), Note(SYSTEM.owed, "")))
    assert look(SYSTEM, tmp_path).owed == ""


def test_after_a_failed_first_start_a_repeated_install_gives_the_set_up_link(
    frozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As one user, with a service manager that fails once."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    asked: list[str] = []

    def manage(_hand: Hand, command: tuple[str, ...], *, check: bool = True) -> None:
        asked.append(command[2])
        if len(asked) == 1:
            raise OSError("the bus is not there")

    monkeypatch.setattr(Hand, "_run", manage)
    monkeypatch.setattr("extras.install.commands.set_up_link", lambda *_: "http://the-link/")
    assert run(["install", "--user"]) == Exit.FAILED
    assert (tmp_path / "home/.local/lib/sanderling/current").is_symlink()
    capsys.readouterr()
    assert run(["install", "--user"]) == Exit.WELL
    assert asked[1:] == ["daemon-reload", "enable", "restart"]
    assert "http://the-link/" in capsys.readouterr().out
    assert run(["install", "--user"]) == Exit.WELL
    assert asked[-1] == "start"
    assert "http://the-link/" not in capsys.readouterr().out


def test_a_purge_does_not_follow_a_link_to_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "root/var/lib").mkdir(parents=True)
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk/sanderling.db").write_text("data")
    (tmp_path / "root/var/lib/sanderling").symlink_to(tmp_path / "disk")
    for dry_run in (["--dry-run"], []):
        assert run(["uninstall", "--purge", *dry_run, "--prefix", str(tmp_path / "root")]) == Exit.WELL
        assert f"keep {tmp_path / 'disk'}: the data" in capsys.readouterr().out
    assert files(tmp_path) == {"disk/sanderling.db": "data"}


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    """A browser below the root."""
    program = tmp_path / "root/usr/bin/chromium-headless-shell"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_a_browser_is_held_the_second_time_changes_nothing_and_it_is_let_go(
    frozen: Path, shell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    run(["install", "--prefix", str(root)])
    settings = root / "etc/sanderling/sanderling.env"
    settings.write_bytes(b"# \xe5sa\nSANDERLING_PORT=9000\nSANDERLING_BROWSER=off\n")
    settings.chmod(0o600)
    before = files(root / "etc/systemd")
    capsys.readouterr()
    assert run(["install", "--browser", "--prefix", str(root)]) == Exit.WELL
    assert "enable sanderling-browser.socket and sanderling.service" in capsys.readouterr().out
    held = root / "etc/systemd/system/sanderling-browser@.service"
    assert "browser-holder /usr/bin/chromium-headless-shell\n" in held.read_text()
    assert settings.read_bytes() == (
        b"# \xe5sa\nSANDERLING_PORT=9000\n#SANDERLING_BROWSER=off\n"
        b"SANDERLING_BROWSER=unix:/run/sanderling-browser.sock\n"
    )
    assert settings.stat().st_mode & 0o777 == 0o600
    after = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    assert run(["install", "--browser", "--prefix", str(root)]) == Exit.WELL
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == after
    assert run(["uninstall", "--browser", "--prefix", str(root)]) == Exit.WELL
    assert files(root / "etc/systemd") == before and settings.read_bytes().endswith(b"\n#SANDERLING_BROWSER=off\n")


def test_without_a_browser_to_confine_it_says_so_and_does_nothing(
    frozen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    for named, why in (
        ([], "no browser is installed"),
        (["/usr/bin/nowhere"], "no program that can be run"),
        (["off"], "give the path"),
        (["unix:/run/x"], "give the path"),
    ):
        assert run(["install", "--prefix", str(root), "--browser", *named]) in (Exit.BAD_SETTING, Exit.USAGE)
        assert why in capsys.readouterr().err
    assert run(["install", "--user", "--browser"]) == Exit.USAGE
    assert run(["uninstall", "--browser", "--purge", "--prefix", str(root)]) == Exit.USAGE
    assert not root.exists()


def test_with_a_package_a_browser_is_set_up_and_nothing_else_installed(
    shell: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/lib/sanderling/sanderling")
    root = tmp_path / "root"
    assert run(["install", "--browser", "/usr/bin/chromium-headless-shell", "--prefix", str(root)]) == Exit.WELL
    assert set(files(root)) == {
        "etc/sanderling/sanderling.env",
        "etc/systemd/system/sanderling-browser.socket",
        "etc/systemd/system/sanderling-browser@.service",
        "usr/bin/chromium-headless-shell",
    }


def test_settings_that_were_changed_meanwhile_are_not_written_over(tmp_path: Path) -> None:
    settings = tmp_path / str(SYSTEM.settings).lstrip("/")
    settings.parent.mkdir(parents=True)
    settings.write_text("B=2\n")
    with pytest.raises(CommandFailed, match="it has changed"):
        Hand(tmp_path, {}).do((Amend(SYSTEM.settings, "A=1\n", "A=1\nC=3\n", "write C=3 into"),))
    assert settings.read_text() == "B=2\n"


def test_an_empty_root_has_nothing(tmp_path: Path) -> None:
    assert look(SYSTEM, tmp_path) == FoundInstallation(account=look(SYSTEM, tmp_path).account)
    assert program.unpacked() is None
