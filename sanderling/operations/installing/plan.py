"""The acts of installing and removing: a list, decided from what is there. Pure.

Doing a plan twice is doing it once: the second finds all in place. What somebody has edited is never overwritten, and
data are removed only when asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath as Path
from typing import Literal

from sanderling.operations.installing.layout import UNIT, Layout
from sanderling.operations.installing.unit import KeyFile, is_unedited, sealed, settings_text, unit_text

Owed = Literal["", "restart", "first start"]


@dataclass(frozen=True, slots=True)
class FoundInstallation:
    """What is there already. versions: the folders below programs, halves of broken off installations among them.
    current, previous, command: what these links point at. unit: the unit's text; beside: whether a new one lies there.
    data_link: what the data folder points at, when it is a link. owed: what an installation that was cut off has not
    come to. key: which file of the master key. The rest: whether they are there.
    """

    versions: tuple[str, ...] = ()
    current: str = ""
    previous: str = ""
    command: str = ""
    unit: str | None = None
    beside: bool = False
    settings: bool = False
    data: bool = False
    data_link: str = ""
    owed: Owed = ""
    account: bool = False
    key: KeyFile = "none"


@dataclass(frozen=True, slots=True)
class LayOut:
    """Copy the program to a folder, which appears whole and tried or not at all."""

    to: Path

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"lay out the program in {self.to} and try it"


@dataclass(frozen=True, slots=True)
class Point:
    """Make a link, in place of one that is there."""

    link: Path
    to: Path

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"point {self.link} at {self.to}"


@dataclass(frozen=True, slots=True)
class MakeAccount:
    """Make a system account that nobody can sign in to."""

    name: str
    home: Path

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"make the system account {self.name}"


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """Make a folder, owned by an account ("": whoever installs)."""

    path: Path
    mode: int
    owner: str = ""

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"make the folder {self.path}, mode {self.mode:04o}" + (f", of {self.owner}" if self.owner else "")


@dataclass(frozen=True, slots=True)
class Write:
    """Write a file, whole or not at all; the group ("": none) may read it."""

    path: Path
    text: str
    mode: int = 0o644
    group: str = ""

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"write {self.path}"


@dataclass(frozen=True, slots=True)
class Run:
    """Run a program of the system. may_fail: what it undoes may be undone already."""

    command: tuple[str, ...]
    may_fail: bool = False

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"run {' '.join(self.command)}"


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a file, a link or a folder with all that is in it."""

    path: Path
    why: str = ""

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"remove {self.path}" + (f" ({self.why})" if self.why else "")


@dataclass(frozen=True, slots=True)
class Note:
    """Write down what the service is owed, which outlives being cut off before it has it; "": nothing any more."""

    path: Path
    owed: Owed

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"note in {self.path} that a {self.owed} is owed" if self.owed else f"remove {self.path} (done)"


@dataclass(frozen=True, slots=True)
class Keep:
    """Do nothing, and say why."""

    path: Path
    why: str

    @property
    def says(self) -> str:
        """The act as one line."""
        return f"keep {self.path}: {self.why}"


Act = LayOut | Point | MakeAccount | MakeFolder | Write | Run | Remove | Note | Keep
Plan = tuple[Act, ...]


def installing(
    layout: Layout, version: str, found: FoundInstallation, *, live: bool = True, start: bool = True
) -> Plan:
    """Return what installs a version (a folder's name).

    live: whether this is a machine that runs, and not a folder that stands for one: then there are accounts and a
    service manager. start: whether the service is to be enabled and started.
    """
    return tuple(_installing(layout, version, found, live=live, start=start))


def _installing(layout: Layout, version: str, found: FoundInstallation, *, live: bool, start: bool) -> Iterator[Act]:
    place = layout.programs / version
    owner = layout.account if live else ""
    if version not in found.versions:  # first: what does not run here shall not have changed anything
        yield LayOut(place)
    if live and layout.account and not found.account:
        yield MakeAccount(layout.account, layout.data)
    unit = sealed(unit_text(layout, key=found.key))
    acts = tuple(_unit(layout, unit, found.unit))
    changed = found.current != version or Write(layout.unit, unit) in acts
    if live and changed and not found.owed:  # before what it is owed for
        yield Note(layout.owed, "restart" if found.data else "first start")
    before = found.previous
    if found.current != version:
        before = found.current or found.previous
        if before and before != found.previous:
            yield Point(layout.previous, Path(before))
        yield Point(layout.current, Path(version))
    if found.command != str(layout.launcher):
        yield Point(layout.command, layout.launcher)
    if not found.data:
        yield MakeFolder(layout.data, 0o700, owner)
    if found.settings:
        yield Keep(layout.settings, "it is yours")
    else:
        yield Write(layout.settings, settings_text(layout), 0o640, owner)
    yield from acts
    if live and start:
        manager = ("systemctl",) if layout.account else ("systemctl", "--user")
        owed = changed or bool(found.owed)
        yield Run((*manager, "daemon-reload"))
        yield Run((*manager, "enable", UNIT))
        yield Run((*manager, "restart" if owed else "start", UNIT))
        if owed:
            yield Note(layout.owed, "")
    for name in found.versions:
        if name not in (version, before):
            yield Remove(layout.programs / name, "neither in use nor the one before")


def _unit(layout: Layout, text: str, there: str | None) -> Iterator[Act]:
    if there == text:
        return
    if there is not None and not is_unedited(there):
        yield Keep(layout.unit, f"it has been edited; the new one is {layout.unit_beside.name}, beside it")
        yield Write(layout.unit_beside, text)
    else:
        yield Write(layout.unit, text)


def removing(layout: Layout, found: FoundInstallation, *, purge: bool, live: bool = True) -> Plan:
    """Return what removes the program; purge: the data, the settings and the account too."""
    return tuple(_removing(layout, found, purge=purge, live=live))


def _removing(layout: Layout, found: FoundInstallation, *, purge: bool, live: bool) -> Iterator[Act]:
    manager = ("systemctl",) if layout.account else ("systemctl", "--user")
    if live and found.unit is not None:
        yield Run((*manager, "disable", "--now", UNIT), may_fail=True)
    if found.unit is not None and not purge and not is_unedited(found.unit):
        yield Keep(layout.unit, "it has been edited")
    elif found.unit is not None:
        yield Remove(layout.unit)
    if found.beside:
        yield Remove(layout.unit_beside)
    if live and found.unit is not None:
        yield Run((*manager, "daemon-reload"), may_fail=True)
    if found.command == str(layout.launcher):
        yield Remove(layout.command)
    if found.current or found.versions:
        yield Remove(layout.programs, "every version")
    yield from _data(layout, found, purge=purge)
    yield from _settings(layout, found, purge=purge)
    if purge and live and layout.account and found.account:
        yield Run(("userdel", layout.account), may_fail=True)


def _data(layout: Layout, found: FoundInstallation, *, purge: bool) -> Iterator[Act]:
    if purge and found.data_link:  # where it leads has not been made by us, and may hold more than ours
        yield Remove(layout.data, "only a link")
        yield Keep(layout.data.parent / found.data_link, "the data, which a link of yours led to; remove them yourself")
    elif found.data:
        yield Remove(layout.data, "all data") if purge else Keep(layout.data, "the data; --purge removes them")


def _settings(layout: Layout, found: FoundInstallation, *, purge: bool) -> Iterator[Act]:
    key = "the master key, which opens backups too"
    there = [*["the settings"] * found.settings, *[key] * (found.key != "none")]
    if purge and there:
        yield Remove(layout.settings.parent, ", and ".join(there))
        return
    if found.settings:
        yield Keep(layout.settings, "your settings")
    if found.key != "none":
        suffix = ".cred" if found.key == "encrypted" else ""
        yield Keep(layout.master_key.with_name(layout.master_key.name + suffix), key)
