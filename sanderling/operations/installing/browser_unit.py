"""The units that hold a browser for the service, and the setting that points to them. Pure.

No browser can run under the restrictions of the service's own unit. systemd starts one per connection to a socket, and
ends it with all its children. `docs/rendered-pages.md` prints these exact texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath as Path
from typing import Final

from sanderling.operations.installing.layout import Layout
from sanderling.operations.installing.unit import word

ADDRESS: Final = "/run/sanderling-browser.sock"
SETTING: Final = "SANDERLING_BROWSER"
LINE: Final = f"{SETTING}=unix:{ADDRESS}"
_HOLDER: Final = " browser-holder "

_SOCKET: Final = """\
[Socket]
ListenStream={address}
SocketUser={account}
SocketMode=0600
Accept=yes
MaxConnections=8

[Install]
WantedBy=sockets.target
"""

_SERVICE: Final = """\
[Service]
ExecStart={command}{holder}{browser}
StandardInput=socket
StandardOutput=null
StandardError=journal
DynamicUser=yes
PrivateNetwork=yes
PrivateTmp=yes
ProtectHome=yes
ProtectSystem=strict
NoNewPrivileges=yes
InaccessiblePaths=-{data} -{settings}
MemoryMax=2G
TasksMax=512
KillMode=control-group
"""


def browser_units(layout: Layout, browser: str) -> Mapping[Path, str]:
    """Return the units by path. browser: the path of its program."""
    socket = _SOCKET.format(address=ADDRESS, account=layout.account)
    service = _SERVICE.format(
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
    if _chosen(lines) == [LINE]:
        return settings
    kept = [f"#{line}" if _chooses(line) else line for line in lines]
    parted = [""] if kept and kept[-1].endswith("\\") else []  # a trailing backslash would swallow our line
    return "\n".join([*kept, *parted, LINE, ""])


def without_browser(settings: str) -> str:
    """Remove the line that points to these units."""
    return "".join(line for line in settings.splitlines(keepends=True) if line.strip() != LINE)


def _chosen(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if _chooses(line)]


def _chooses(line: str) -> bool:
    return line.partition("=")[0].strip() == SETTING
