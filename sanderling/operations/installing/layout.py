"""The places of an installation: for the whole system, or for one user. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath as Path

ACCOUNT = "sanderling"
UNIT = "sanderling.service"
BROWSER_SOCKET = "sanderling-browser.socket"


@dataclass(frozen=True, slots=True)
class Layout:
    """programs: one folder for each version, and links to two of them, `current` and `previous`. command: what people
    type. settings: the file of variables. account: whom the service runs as; "" is who installs it.
    """

    programs: Path
    command: Path
    data: Path
    settings: Path
    unit: Path
    account: str = ""

    @property
    def current(self) -> Path:
        """The link to the version in use."""
        return self.programs / "current"

    @property
    def previous(self) -> Path:
        """The link to the version that was in use before, which is the way back."""
        return self.programs / "previous"

    @property
    def owed(self) -> Path:
        """The note that the service has not been started yet since it was changed."""
        return self.programs / "owed"

    @property
    def unit_beside(self) -> Path:
        """Where a new unit goes when the old one has been edited."""
        return beside(self.unit)

    @property
    def browser_socket(self) -> Path:
        """The unit of the socket by which the service asks for a browser."""
        return self.unit.with_name(BROWSER_SOCKET)

    @property
    def browser_service(self) -> Path:
        """The unit that holds one browser."""
        return self.unit.with_name("sanderling-browser@.service")

    @property
    def master_key(self) -> Path:
        """Where the master key is looked for; with `.cred` behind it, as systemd-creds has encrypted it."""
        return self.settings.with_name("master.key")

    @property
    def launcher(self) -> Path:
        """The program of the version in use."""
        return self.current / "sanderling"


def beside(unit: Path) -> Path:
    """Return where a new unit goes when the one at a path has been edited."""
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
"""Where packages put the program: those are for the package manager to install and to remove."""
BESIDE_PACKAGE = replace(SYSTEM, command=Path("/usr/bin/sanderling"))
"""Where the units of a browser go that is held beside a package's service."""


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
