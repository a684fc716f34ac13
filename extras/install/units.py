"""The texts of the units and the first settings: the service's, and those that hold a browser for it. Pure.

Written files end with a checksum of the text above it: a valid one proves that the file was not edited, so a newer
version may replace it. No browser can run under the restrictions of the service's own unit: systemd starts one per
connection to a socket, and ends it with all its children. `docs/rendered-pages.md` prints these exact texts.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import PurePosixPath as Path
from typing import Final, Literal

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
        return beside(self.unit)

    @property
    def browser_socket(self) -> Path:
        return self.unit.with_name(BROWSER_SOCKET)

    @property
    def browser_service(self) -> Path:
        return self.unit.with_name("sanderling-browser@.service")

    @property
    def master_key(self) -> Path:
        """The master key's path; with `.cred` appended if systemd-creds encrypted it."""
        return self.settings.with_name("master.key")

    @property
    def launcher(self) -> Path:
        return self.current / "sanderling"


def beside(unit: Path) -> Path:
    return unit.with_name(f"{unit.name}.new")


SYSTEM = Layout(
    programs=Path("/opt/sanderling"),
    command=Path("/usr/local/bin/sanderling"),
    data=Path("/var/lib/sanderling"),
    settings=Path("/etc/sanderling/sanderling.env"),
    unit=Path("/etc/systemd/system") / UNIT,
    account=ACCOUNT,
)
PACKAGED = Path("/usr/lib/sanderling")  # where packages put the program; the package manager installs and removes those
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


KeyFile = Literal["none", "plain", "encrypted"]
ADDRESS: Final = "/run/sanderling-browser.sock"
SETTING: Final = "SANDERLING_BROWSER"
LINE: Final = f"{SETTING}=unix:{ADDRESS}"
CREDENTIAL = "sanderling.master-key"
SEAL = "# Written by `sanderling install`, unedited: "
_HOLDER: Final = " browser-holder "
_TEXTS: Final[Mapping[str, str]] = tomllib.loads(files("extras.install").joinpath("units.toml").read_text("utf-8"))


def unit_text(layout: Layout, launcher: Path | None = None, key: KeyFile = "none") -> str:
    """Return the unit. A system unit uses namespaces and filters, a user unit only filters, because not every user
    manager may create namespaces. launcher: for packages. key: which file of the master key exists; a unit that names a
    missing one would not start.
    """
    system = bool(layout.account)
    head = _TEXTS["head"].format(
        page="Documentation=man:sanderling(1)\n" if launcher else "",  # packages include the page
        after=_TEXTS["network"] if system else "",
        launcher=word(launcher or layout.launcher),
        settings=str(layout.settings).replace("%", "%%"),
        data=word(f"SANDERLING_DATA={layout.data}"),
    )
    account = _key_line(layout, key) + (_TEXTS["account"].format(account=layout.account) if system else "")
    target = "multi-user.target" if system else "default.target"
    walls = _TEXTS["by_filter"] + (_TEXTS["by_namespace"] if system else "")
    return f"{head}{account}{_TEXTS['life']}{walls}\n[Install]\nWantedBy={target}\n"


def _key_line(layout: Layout, key: KeyFile) -> str:
    """Return the line that passes the master key: a credential readable only by the service; for a user, its path."""
    if key == "none":
        return ""
    if not layout.account:
        named = word(f"SANDERLING_MASTER_KEY_FILE={layout.master_key}")
        return f"Environment={named}\n" if key == "plain" else ""
    if key == "encrypted":
        return f"LoadCredentialEncrypted={CREDENTIAL}:{layout.master_key}.cred\n"
    return f"LoadCredential={CREDENTIAL}:{layout.master_key}\n"


def word(text: Path | str) -> str:
    """Quote text as one word of a line (systemd.syntax(7)): a home may contain a space.

    >>> word("/opt/sanderling"), word('/home/a b/50%')
    ('/opt/sanderling', '"/home/a b/50%%"')
    """
    plain = str(text).replace("%", "%%")
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return plain if escaped == plain and not set(" '\t") & set(plain) else f'"{escaped}"'


def settings_text(layout: Layout) -> str:
    return _TEXTS["settings"].format(restart=f"systemctl{'' if layout.account else ' --user'} restart sanderling")


def sealed(text: str) -> str:
    return f"{text}{SEAL}{hashlib.sha256(text.encode()).hexdigest()[:16]}\n"


def is_unedited(text: str) -> bool:
    """Return whether a file's checksum is valid.

    >>> is_unedited(sealed("[Unit]\\n")), is_unedited(sealed("[Unit]\\n").replace("Unit", "unit"))
    (True, False)
    """
    before, seal, _sum = text.rpartition(SEAL)
    return bool(seal) and sealed(before) == text


def browser_units(layout: Layout, browser: str) -> Mapping[Path, str]:
    socket = _TEXTS["socket"].format(address=ADDRESS, account=layout.account)
    service = _TEXTS["service"].format(
        command=word(layout.command),
        holder=_HOLDER,
        browser=word(browser),
        data=layout.data,
        settings=layout.settings.parent,
    )
    return {layout.browser_socket: socket, layout.browser_service: service}


def browser_in(unit: str) -> str:
    """Return the browser's path in a unit; "" if unclear.

    >>> browser_in("[Service]\\nExecStart=/usr/local/bin/sanderling browser-holder /usr/bin/chromium\\n")
    '/usr/bin/chromium'
    """
    (line, *_) = (*(line for line in unit.splitlines() if line.startswith("ExecStart=")), "")
    browser = line.partition(_HOLDER)[2].strip()
    return "" if '"' in browser else browser.replace("%%", "%")


def with_browser(settings: str) -> str:
    """Return settings that point to these units. Another browser setting stays as a comment.

    >>> with_browser("SANDERLING_PORT=80\\nSANDERLING_BROWSER=off")
    'SANDERLING_PORT=80\\n#SANDERLING_BROWSER=off\\nSANDERLING_BROWSER=unix:/run/sanderling-browser.sock\\n'
    """
    lines = settings.splitlines()
    if [line.strip() for line in lines if _chooses(line)] == [LINE]:
        return settings
    kept = [f"#{line}" if _chooses(line) else line for line in lines]
    parted = [""] if kept and kept[-1].endswith("\\") else []  # a trailing backslash would swallow our line
    return "\n".join([*kept, *parted, LINE, ""])


def without_browser(settings: str) -> str:
    return "".join(line for line in settings.splitlines(keepends=True) if line.strip() != LINE)


def _chooses(line: str) -> bool:
    return line.partition("=")[0].strip() == SETTING
