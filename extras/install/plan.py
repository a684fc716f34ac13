"""The acts of installing and removing: a list, decided from the present state. Pure.

Plans are idempotent: a second run changes nothing. Edited files are never overwritten, and data are removed only on
request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath as Path
from typing import Literal

from extras.install import units

Owed = Literal["", "restart", "first start"]


@dataclass(frozen=True, slots=True)
class FoundInstallation:
    """The present state. versions: folders below programs, including interrupted installations. current, previous,
    command: targets of these links. unit: its text; beside: whether a new one waits next to it. data_link: the data
    folder's target, if it is a link. owed: an outstanding restart or start. key: which file of the master key exists.
    browser: texts of a browser's units, and of new ones next to them. settings_say: the settings' text. The rest:
    whether they exist.
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
    key: units.KeyFile = "none"
    browser: Mapping[Path, str] = field(default_factory=dict)
    settings_say: str = ""


@dataclass(frozen=True, slots=True)
class LayOut:
    """Copy the program to a folder, which appears complete and tested or not at all."""

    to: Path

    @property
    def says(self) -> str:
        return f"lay out the program in {self.to} and try it"


@dataclass(frozen=True, slots=True)
class Point:
    """Create or replace a link."""

    link: Path
    to: Path

    @property
    def says(self) -> str:
        return f"point {self.link} at {self.to}"


@dataclass(frozen=True, slots=True)
class MakeAccount:
    """Create a system account without login."""

    name: str
    home: Path

    @property
    def says(self) -> str:
        return f"make the system account {self.name}"


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """Create a folder, owned by an account ("": the installing user)."""

    path: Path
    mode: int
    owner: str = ""

    @property
    def says(self) -> str:
        return f"make the folder {self.path}, mode {self.mode:04o}" + (f", of {self.owner}" if self.owner else "")


@dataclass(frozen=True, slots=True)
class Write:
    """Write a file atomically; the group ("": none) may read it."""

    path: Path
    text: str
    mode: int = 0o644
    group: str = ""

    @property
    def says(self) -> str:
        return f"write {self.path}"


@dataclass(frozen=True, slots=True)
class Amend:
    """Change a line of the user's file, if it is `before`; keep owner and mode."""

    path: Path
    before: str
    text: str
    what: str

    @property
    def says(self) -> str:
        return f"{self.what} {self.path}; the rest of it stays as it is"


@dataclass(frozen=True, slots=True)
class Run:
    """Run a system program. may_fail: its effect may be undone already."""

    command: tuple[str, ...]
    may_fail: bool = False

    @property
    def says(self) -> str:
        return f"run {' '.join(self.command)}"


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a file, a link, or a folder with its content."""

    path: Path
    why: str = ""

    @property
    def says(self) -> str:
        return f"remove {self.path}" + (f" ({self.why})" if self.why else "")


@dataclass(frozen=True, slots=True)
class Note:
    """Record an outstanding restart, which survives an interruption; "": delete the record."""

    path: Path
    owed: Owed

    @property
    def says(self) -> str:
        return f"note in {self.path} that a {self.owed} is owed" if self.owed else f"remove {self.path} (done)"


@dataclass(frozen=True, slots=True)
class Keep:
    """Do nothing, and explain why."""

    path: Path
    why: str

    @property
    def says(self) -> str:
        return f"keep {self.path}: {self.why}"


Act = LayOut | Point | MakeAccount | MakeFolder | Write | Amend | Run | Remove | Note | Keep
Plan = tuple[Act, ...]


def installing(
    layout: units.Layout,
    version: str,
    found: FoundInstallation,
    *,
    browser: str = "",
    live: bool = True,
    start: bool = True,
) -> Plan:
    """version: a folder's name. browser: "" keeps the present one. live: not an image's root. start: enable, too."""
    return tuple(_installing(layout, version, found, browser=browser, live=live, start=start))


def _installing(
    layout: units.Layout, version: str, found: FoundInstallation, *, browser: str, live: bool, start: bool
) -> Iterator[Act]:
    place = layout.programs / version
    owner = layout.account if live else ""
    if version not in found.versions:  # first, so that an incompatible program changes nothing
        yield LayOut(place)
    if live and layout.account and not found.account:
        yield MakeAccount(layout.account, layout.data)
    unit = units.sealed(units.unit_text(layout, key=found.key))
    acts = tuple(_unit(layout.unit, unit, found.unit))
    settings = tuple(_settings_for(layout, found, owner, browser))
    amended = any(isinstance(act, Amend) for act in settings)
    changed = found.current != version or Write(layout.unit, unit) in acts or amended
    if live and changed and not found.owed:  # before the changes that need the restart
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
    held = tuple(_held(layout, found, browser))
    yield from (*settings, *acts, *held)
    if live and start:
        manager = ("systemctl",) if layout.account else ("systemctl", "--user")
        owed = changed or bool(found.owed)
        yield Run((*manager, "daemon-reload"))
        yield from _sockets(layout, found, held)
        yield Run((*manager, "enable", units.UNIT))
        yield Run((*manager, "restart" if owed else "start", units.UNIT))
        if owed:
            yield Note(layout.owed, "")
    for name in found.versions:
        if name not in (version, before):
            yield Remove(layout.programs / name, "neither in use nor the one before")


def _settings_for(layout: units.Layout, found: FoundInstallation, owner: str, browser: str) -> Iterator[Act]:
    """Yield acts on the settings, which change only for a browser."""
    if not found.settings:
        first = units.settings_text(layout)
        yield Write(layout.settings, units.with_browser(first) if browser else first, 0o640, owner)
        return
    text = units.with_browser(found.settings_say) if browser else found.settings_say
    if text == found.settings_say:
        yield Keep(layout.settings, "it is yours")
    else:
        yield Amend(layout.settings, found.settings_say, text, f"write {units.LINE} into")


def _unit(path: Path, text: str, there: str | None) -> Iterator[Act]:
    if there == text:
        return
    if there is not None and not units.is_unedited(there):
        yield Keep(path, f"it has been edited; the new one is {units.beside(path).name}, beside it")
        yield Write(units.beside(path), text)
    else:
        yield Write(path, text)


def holding(
    layout: units.Layout, found: FoundInstallation, browser: str, *, live: bool = True, start: bool = True
) -> Plan:
    return tuple(_holding(layout, found, browser, live=live, start=start))


def _holding(layout: units.Layout, found: FoundInstallation, browser: str, *, live: bool, start: bool) -> Iterator[Act]:
    held = tuple(_held(layout, found, browser))
    settings = tuple(_settings_for(layout, found, layout.account if live else "", browser))
    yield from held
    if live and start:
        yield Run(("systemctl", "daemon-reload"))
        yield from _sockets(layout, found, held)
    yield from settings
    if live and start and not any(isinstance(act, Keep) for act in settings):
        yield Run(("systemctl", "try-restart", units.UNIT))


def _held(layout: units.Layout, found: FoundInstallation, browser: str) -> Iterator[Act]:
    program = browser or units.browser_in(found.browser.get(layout.browser_service, ""))
    if program:
        for path, text in units.browser_units(layout, program).items():
            yield from _unit(path, units.sealed(text), found.browser.get(path))


def _sockets(layout: units.Layout, found: FoundInstallation, held: Plan) -> Iterator[Act]:
    new = any(isinstance(act, Write) and act.path == layout.browser_socket for act in held)
    if new or layout.browser_socket in found.browser:
        yield Run(("systemctl", "enable", units.BROWSER_SOCKET))
        yield Run(("systemctl", "restart" if new else "start", units.BROWSER_SOCKET))


def letting_go(layout: units.Layout, found: FoundInstallation, *, live: bool = True) -> Plan:
    acts = tuple(_letting_go(layout, found, purge=False, live=live))
    amended = tuple(_settings_without(layout, found))
    restart = (Run(("systemctl", "try-restart", units.UNIT), may_fail=True),) if live and amended else ()
    return (*amended, *restart, *acts)


def _letting_go(layout: units.Layout, found: FoundInstallation, *, purge: bool, live: bool) -> Iterator[Act]:
    if live and layout.browser_socket in found.browser:
        yield Run(("systemctl", "disable", "--now", units.BROWSER_SOCKET), may_fail=True)
    for path, text in found.browser.items():
        if not (purge or path.suffix == ".new" or units.is_unedited(text)):
            yield Keep(path, "it has been edited")
        else:
            yield Remove(path)
    if live and found.browser:
        yield Run(("systemctl", "daemon-reload"), may_fail=True)


def _settings_without(layout: units.Layout, found: FoundInstallation) -> Iterator[Act]:
    text = units.without_browser(found.settings_say)
    if text != found.settings_say:
        yield Amend(layout.settings, found.settings_say, text, f"take {units.LINE} out of")


def removing(layout: units.Layout, found: FoundInstallation, *, purge: bool, live: bool = True) -> Plan:
    """Return the acts that remove the program; purge: also data, settings and account."""
    return tuple(_removing(layout, found, purge=purge, live=live))


def _removing(layout: units.Layout, found: FoundInstallation, *, purge: bool, live: bool) -> Iterator[Act]:
    manager = ("systemctl",) if layout.account else ("systemctl", "--user")
    if live and found.unit is not None:
        yield Run((*manager, "disable", "--now", units.UNIT), may_fail=True)
    if found.unit is not None and not purge and not units.is_unedited(found.unit):
        yield Keep(layout.unit, "it has been edited")
    elif found.unit is not None:
        yield Remove(layout.unit)
    if found.beside:
        yield Remove(layout.unit_beside)
    if live and found.unit is not None:
        yield Run((*manager, "daemon-reload"), may_fail=True)
    yield from _letting_go(layout, found, purge=purge, live=live)
    if found.command == str(layout.launcher):
        yield Remove(layout.command)
    if found.current or found.versions:
        yield Remove(layout.programs, "every version")
    yield from _data(layout, found, purge=purge)
    yield from _settings(layout, found, purge=purge)
    if purge and live and layout.account and found.account:
        yield Run(("userdel", layout.account), may_fail=True)


def _data(layout: units.Layout, found: FoundInstallation, *, purge: bool) -> Iterator[Act]:
    if purge and found.data_link:  # we did not create the link's target, and it may hold more than our data
        yield Remove(layout.data, "only a link")
        yield Keep(layout.data.parent / found.data_link, "the data, which a link of yours led to; remove them yourself")
    elif found.data:
        yield Remove(layout.data, "all data") if purge else Keep(layout.data, "the data; --purge removes them")


def _settings(layout: units.Layout, found: FoundInstallation, *, purge: bool) -> Iterator[Act]:
    key = "the master key, which opens backups too"
    there = [*["the settings"] * found.settings, *[key] * (found.key != "none")]
    if purge and there:
        yield Remove(layout.settings.parent, ", and ".join(there))
        return
    yield from _settings_without(layout, found)
    if found.settings:
        yield Keep(layout.settings, "your settings")
    if found.key != "none":
        suffix = ".cred" if found.key == "encrypted" else ""
        yield Keep(layout.master_key.with_name(layout.master_key.name + suffix), key)
