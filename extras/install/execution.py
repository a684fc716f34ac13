"""Inspect an installation and execute a plan, below `/` or another folder.

The one-file form carries the launcher of the directory form without the modules that both contain. Each is a loader
followed by an archive, with the same modules in one contiguous part; `cut` takes that part out of the launcher, and
`assembled` finds it in the one-file form by its first bytes.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import assert_never

from extras.install.plan import (
    Act,
    Amend,
    FoundInstallation,
    Keep,
    LayOut,
    MakeAccount,
    MakeFolder,
    Note,
    Owed,
    Plan,
    Point,
    Remove,
    Run,
    Write,
)
from extras.install.units import KeyFile, Layout, beside
from sanderling.exits import CommandFailed, Exit
from sanderling.program import LAUNCHER, foreign_environment, is_one_file, unpacked

NO_LOGIN = "/usr/sbin/nologin"
_MARK = 4096  # bytes of the part that stay, to find it by


def look(layout: Layout, root: Path) -> FoundInstallation:
    unit = _under(root, layout.unit)
    programs = _under(root, layout.programs)
    there = sorted(programs.iterdir()) if programs.is_dir() else []
    return FoundInstallation(
        versions=tuple(path.name for path in there if path.is_dir() and not path.is_symlink()),
        current=_target(_under(root, layout.current)),
        previous=_target(_under(root, layout.previous)),
        command=_target(_under(root, layout.command)),
        unit=unit.read_text("utf-8", "replace") if unit.is_file() else None,
        beside=_under(root, layout.unit_beside).is_file(),
        settings=_under(root, layout.settings).is_file(),
        data=_under(root, layout.data).is_dir(),
        data_link=_target(_under(root, layout.data)),
        owed=_owed(_under(root, layout.owed)),
        account=bool(layout.account) and _has_account(layout.account),
        key=_key(_under(root, layout.master_key)),
        browser={
            path: text
            for unit in (layout.browser_socket, layout.browser_service)
            for path in (unit, beside(unit))
            if (text := _text(_under(root, path))) is not None
        },
        settings_say=_text(_under(root, layout.settings)) or "",
    )


def _text(path: Path) -> str | None:
    """Return a file's text; None if missing or unreadable: a dry run needs no rights."""
    with suppress(OSError):
        return path.read_text("utf-8", "surrogateescape")
    return None


def _key(path: Path) -> KeyFile:
    if path.with_name(path.name + ".cred").is_file():
        return "encrypted"
    return "plain" if path.is_file() else "none"


def _owed(path: Path) -> Owed:
    if not path.is_file():
        return ""
    return "first start" if path.read_text("utf-8", "replace").strip() == "first start" else "restart"


class Hand:
    """Executes acts. variables: this process's environment. root: all paths are below it."""

    def __init__(self, root: Path, variables: Mapping[str, str]) -> None:
        self._root = root
        self._environment = foreign_environment(variables)

    def do(self, plan: Plan) -> None:
        for act in plan:
            try:
                self._do(act)
            except (OSError, LookupError, subprocess.SubprocessError) as error:
                raise CommandFailed(f"Could not {act.says}: {_words(error)}. Fix that and run it again.") from None

    def _do(self, act: Act) -> None:
        match act:
            case LayOut(to):
                lay_out(self._at(to), self._environment)
            case Point(link, to):
                self._point(self._at(link), to)
            case MakeAccount(name, home):
                self._run(("useradd", "--system", "--user-group", "--no-create-home", *_home(name, home)))
            case MakeFolder(path, mode, owner):
                self._at(path).mkdir(parents=True, exist_ok=True)
                self._give(self._at(path), mode, owner, owner)
            case Write(path, text, mode, group):
                self._write(self._at(path), text, mode, group)
            case Amend(path, before, text):
                self._amend(self._at(path), before, text)
            case Run(command, may_fail):
                self._run(command, check=not may_fail)
            case Remove(path):
                _remove(self._at(path))
            case Note(path, owed):
                self._note(self._at(path), owed)
            case Keep():
                pass
            case _:
                assert_never(act)

    def _at(self, path: PurePosixPath) -> Path:
        return _under(self._root, path)

    def _run(self, command: tuple[str, ...], *, check: bool = True) -> None:
        try:
            done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)  # noqa: S603  # our own lists
        except FileNotFoundError:
            if check:
                raise
            return
        if check and done.returncode:
            raise OSError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"rc {done.returncode}")

    @staticmethod
    def _point(link: Path, to: PurePosixPath) -> None:
        link.parent.mkdir(parents=True, exist_ok=True)
        fresh = link.with_name(f".{link.name}.new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(to)
        fresh.replace(link)

    def _write(self, path: Path, text: str, mode: int, group: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.new")
        fresh.write_text(text, "utf-8")
        self._give(fresh, mode, "", group)
        fresh.replace(path)

    @staticmethod
    def _amend(path: Path, before: str, text: str) -> None:
        there = path.resolve()  # may be the owner's link
        if _text(there) != before:
            raise OSError("it has changed, or can't be read")
        kept = there.stat()
        fresh = there.with_name(f".{there.name}.new")
        fresh.touch(0o600)
        os.chown(fresh, kept.st_uid, kept.st_gid)
        fresh.chmod(kept.st_mode & 0o7777)
        fresh.write_text(text, "utf-8", "surrogateescape")
        fresh.replace(there)

    def _note(self, path: Path, owed: Owed) -> None:
        if owed:
            self._write(path, f"{owed}\n", 0o644, "")
        else:
            path.unlink(missing_ok=True)

    @staticmethod
    def _give(path: Path, mode: int, owner: str, group: str) -> None:
        path.chmod(mode)
        if owner:
            shutil.chown(path, user=owner)
        if group:
            shutil.chown(path, group=group)


def lay_out(to: Path, environment: Mapping[str, str]) -> None:
    """Copy the frozen program to a folder, tested before its final name. Raises CommandFailed, OSError."""
    inside = unpacked()
    if inside is None:
        says = "This is a checkout; `install` lays out the program that `make binary` makes."
        raise CommandFailed(says, Exit.BAD_SETTING)
    fresh = to.with_name(f".{to.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        _copy(inside, fresh)
        _try(fresh / "sanderling", environment)
        fresh.replace(to)
    except (OSError, CommandFailed):
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _copy(inside: Path, fresh: Path) -> None:
    fresh.mkdir(parents=True)
    shutil.copytree(
        inside,
        fresh / "_internal",
        symlinks=True,
        ignore=lambda folder, _names: [LAUNCHER] if Path(folder) == inside else [],
    )
    (fresh / "sanderling").write_bytes(_launcher(inside))
    for folder, _folders, names in os.walk(fresh):  # unpacked files are readable only by their owner
        Path(folder).chmod(0o755)
        for path in (Path(folder) / name for name in names):
            if not path.is_symlink():
                path.chmod(0o755 if path.name == "sanderling" else 0o644)


def _launcher(inside: Path) -> bytes:
    program = Path(sys.executable).read_bytes()
    if not is_one_file():
        return program
    try:
        return assembled({file.name: file.read_bytes() for file in (inside / LAUNCHER).iterdir()}, program)
    except ValueError as error:
        raise CommandFailed(f"{sys.executable}: {error}; download it again.", Exit.BAD_DATA) from None


def _try(launcher: Path, environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(  # noqa: S603  # our own program
            [launcher, "version"], env=dict(environment), capture_output=True, text=True, check=False, timeout=60
        )
        code, said = done.returncode, done.stderr.strip().splitlines()[-1:]
    except FileNotFoundError:  # its ELF interpreter: the launcher was just written
        code, said = 127, ["its C library (glibc) is not there"]
    except PermissionError:
        code, said = 126, ["programs may not be run from there (mounted noexec?)"]
    if code:
        raise CommandFailed(
            f"The program in {launcher.parent.parent} does not run on this system: {said[0] if said else code}.\n"
            "Nothing was changed. `sanderling help install` lists what it runs on."
        )


def set_up_link(layout: Layout, variables: Mapping[str, str]) -> str:
    """Make the link that sets the dashboard's password, under the service's account; "" on failure."""
    settings = dict(
        line.strip().split("=", 1)
        for line in Path(layout.settings).read_text("utf-8").splitlines()
        if "=" in line and not line.lstrip().startswith("#")
    )
    whom = {"user": layout.account, "group": layout.account, "extra_groups": ()} if layout.account else {}
    done = subprocess.run(  # noqa: S603  # our own program
        [str(layout.launcher), "setup-link"],
        env=foreign_environment(variables) | {"SANDERLING_DATA": str(layout.data)} | settings,
        capture_output=True,
        text=True,
        check=False,
        **whom,  # type: ignore[call-overload]  # the three belong together
    )
    return str(done.stdout).strip() if done.returncode == 0 else ""


def _home(name: str, home: PurePosixPath) -> tuple[str, ...]:
    return ("--home-dir", str(home), "--shell", NO_LOGIN, name)


def _has_account(name: str) -> bool:
    with suppress(KeyError):
        pwd.getpwnam(name)
        return True
    return False


def _target(link: Path) -> str:
    return os.readlink(link) if link.is_symlink() else ""


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _under(root: Path, path: PurePosixPath) -> Path:
    return root / path.relative_to("/")


def _words(error: Exception) -> str:
    if isinstance(error, shutil.Error):  # lists every failed file, mostly for one reason
        return str(error.args[0][0][2]).partition(": ")[0]
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def cut(launcher: bytes, begins: int, ends: int) -> dict[str, bytes]:
    """Return the carried files of a launcher; its modules lie at bytes begins to ends."""
    marked = begins + _MARK
    about = f"{ends - marked} {hashlib.sha256(launcher).hexdigest()}"
    return {"before": launcher[:marked], "after": launcher[ends:], "about": about.encode()}


def assembled(carried: Mapping[str, bytes], program: bytes) -> bytes:
    """Rebuild the launcher with the modules of the program that carries it. Raises ValueError if they do not match.

    >>> launcher, one_file = b"loader" + bytes(range(256)) * 40 + b"end", b"another" + bytes(range(256)) * 40 + b"more"
    >>> assembled(cut(launcher, 6, 6 + 256 * 40), one_file) == launcher
    True
    """
    size, sum = carried["about"].decode().split()
    at = program.find(carried["before"][-_MARK:]) + _MARK
    launcher = carried["before"] + program[at : at + int(size)] + carried["after"]
    if hashlib.sha256(launcher).hexdigest() != sum:
        raise ValueError("the launcher that the program carries does not fit it")
    return launcher
