"""The program that the setting `browser` names. Installing one and rendering with it are extras apart."""

from __future__ import annotations

from collections.abc import Callable
from os.path import isabs
from shutil import which
from typing import Final, NamedTuple

NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Best first: the headless shell draws no window, so it is lighter and faster."""
OFF: Final = "off"
SOCKET: Final = "unix:"
"""Prefix of the path of a socket where each connection starts a holder, such as a systemd unit's."""
HOW: Final = "install Debian's chromium-headless-shell (or chromium), or name a browser with the setting browser"


class FoundBrowser(NamedTuple):
    """path: the program, or "" if there is none; `absent` then gives the reason."""

    path: str
    absent: str


def find_browser(setting: str, find: Callable[[str], str | None] = which) -> FoundBrowser:
    """Return the browser for a setting: a path, "" (first one found), "off", or a socket of a browser unit.

    >>> find_browser("", {"chromium": "/usr/bin/chromium"}.get).path, find_browser("off").absent
    ('/usr/bin/chromium', 'the setting browser is off')
    """
    if setting == OFF:
        return FoundBrowser("", f"the setting browser is {OFF}")
    if setting.startswith(SOCKET):
        return FoundBrowser(setting, "")
    if setting:
        path = find(setting) if isabs(setting) else None
        return FoundBrowser(path or "", "" if path else f"browser = {setting!r} is no program that can be run: {HOW}")
    found = next(filter(None, map(find, NAMES)), "")
    return FoundBrowser(found, "" if found else f"no browser is installed: {HOW}")
