"""The settings of the browser."""

from __future__ import annotations

import re
from dataclasses import dataclass

from actors.settings import ExtraSettings, Settings, bind, host_and_port, setting

_ADDRESS = re.compile(r"([a-z]+://)(?:([^/?#]*)@)?([^/?#]*)(.*)", re.DOTALL)
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  # compared, not bound


def _host_only(value: str) -> str:
    """Leave out the path of a browser's address, which controls it, and its password and token."""
    found = _ADDRESS.fullmatch(value)
    if found is None:
        return value
    return f"{found[1]}{found[3]}{'' if found[2] is None and found[4] in ('', '/') else '/...'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSettings(ExtraSettings):
    """Which browser renders pages, and how."""

    browser: str = setting("", mask=_host_only)
    browser_proxy_listen: str = setting("", check=bind)
    browser_proxy_address: str = setting("", check=bind)
    browser_sandbox: str = setting("demanded", choices=("demanded", "wanted"))
    browser_pages: int = setting(0, "", 0, 64)
    browser_ports: tuple[str, ...] = setting(())

    def check(self, settings: Settings) -> None:
        for port in self.browser_ports:
            if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
                raise ValueError(f"browser_ports: {port!r} is no port")
        if self.browser_proxy_address and not self.browser_proxy_listen:
            raise ValueError("browser_proxy_address is set and browser_proxy_listen is not: set its listening address")
        if self.gate()[0] in _EVERYWHERE and not self.browser_proxy_address:
            says = "browser_proxy_listen is every address: set browser_proxy_address to the one for the browser"
            raise ValueError(says)

    def ports(self) -> tuple[int, ...]:
        """Return the ports that rendered pages may use in addition to 80, 443 and their own."""
        return tuple(map(int, self.browser_ports))

    def gate(self) -> tuple[str, int]:
        """Return the host and port where the guarded proxy listens for a remote browser; port 0: a free one."""
        return host_and_port(self.browser_proxy_listen) if self.browser_proxy_listen else ("127.0.0.1", 0)
