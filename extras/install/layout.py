"""The locations of an installation: for the whole system, or for one user. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath as Path

ACCOUNT = "sanderling"
UNIT = "sanderling.service"
BROWSER_SOCKET = "sanderling-browser.socket"


@dataclass(frozen=True, slots=True)
class Layout:
    """programs: one folder per version, plus the links `current` and `previous`. command: the path on PATH. settings:
    the file of variables. account: the service's account; "" means the installing user.
    """

    programs: Path
    command: Path
    data: Path
    settings: Path
    unit: Path
    account: str = ""

    @property
    def current(self) -> Path:
        """Link to the version in use."""
        return self.programs / "current"

    @property
    def previous(self) -> Path:
        """Link to the version used before, for going back."""
        return self.programs / "previous"

    @property
    def owed(self) -> Path:
        """Marker: the service was changed and not yet restarted."""
        return self.programs / "owed"

    @property
    def unit_beside(self) -> Path:
        """Where a new unit goes if the old one was edited."""
        return beside(self.unit)

    @property
    def browser_socket(self) -> Path:
        """The socket unit that gives the service a browser."""
        return self.unit.with_name(BROWSER_SOCKET)

    @property
    def browser_service(self) -> Path:
        """The unit that holds one browser."""
        return self.unit.with_name("sanderling-browser@.service")

    @property
    def master_key(self) -> Path:
        """The master key's path; with `.cred` appended if systemd-creds encrypted it."""
        return self.settings.with_name("master.key")

    @property
    def launcher(self) -> Path:
        """The program of the version in use."""
        return self.current / "sanderling"


def beside(unit: Path) -> Path:
    """Return where a new unit goes if the one at this path was edited."""
    return unit.with_name(f"{unit.name}.new")


SYSTEM = Layout(
    programs=Path("/opt/sanderling"),
    command=Path("/usr/local/bin/sanderling"),
    data=Path("/var/lib/sanderling"),
    settings=Path("/etc/sanderling/sanderling.env"),
    unit=Path("/etc/systemd/system") / UNIT,
    account=ACCOUNT,
)
PACKAGED = Path("/usr/lib/sanderling")
"""Where packages put the program; the package manager installs and removes those."""
BESIDE_PACKAGE = replace(SYSTEM, command=Path("/usr/bin/sanderling"))
"""Locations of a browser's units next to a packaged service."""


def of_user(variables: Mapping[str, str], home: str) -> Layout:
    """Return one user's layout, by the XDG base directories.

    >>> of_user({"XDG_DATA_HOME": "/data/me"}, "/users/me").data
    PurePosixPath('/data/me/sanderling')
    """
    at = Path(home)
    data = Path(variables.get("XDG_DATA_HOME") or at / ".local/share")
    config = Path(variables.get("XDG_CONFIG_HOME") or at / ".config")
    return Layout(
        programs=at / ".local/lib/sanderling",
        command=at / ".local/bin/sanderling",
        data=data / "sanderling",
        settings=config / "sanderling/sanderling.env",
        unit=config / "systemd/user" / UNIT,
    )
