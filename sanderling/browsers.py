"""Choose the browser on this machine, or explain why there is none."""

from __future__ import annotations

from collections.abc import Callable
from os.path import isabs
from shutil import which
from typing import Final, NamedTuple

from actors.browser.held import SOCKET
from actors.browser.remote import is_remote, read_remote

NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Best first: the headless shell draws no window, so it is lighter and faster."""
OFF: Final = "off"
HOW: Final = "install Debian's chromium-headless-shell (or chromium), or name a browser with the setting browser"


class FoundBrowser(NamedTuple):
    """path: the program, or "" if there is none; `absent` then gives the reason."""

    path: str
    absent: str


def find_browser(setting: str, find: Callable[[str], str | None] = which) -> FoundBrowser:
    """Return the browser for a setting: a path, "" (first one found), "off", a socket of a browser unit, or a remote
    address.

    >>> find_browser("", {"chromium": "/usr/bin/chromium"}.get).path, find_browser("off").absent
    ('/usr/bin/chromium', 'the setting browser is off')
    """
    if setting == OFF:
        return FoundBrowser("", f"the setting browser is {OFF}")
    if is_remote(setting):
        return _elsewhere(setting)
    if setting.startswith(SOCKET):
        return FoundBrowser(setting, "")
    if setting:
        path = find(setting) if isabs(setting) else None
        return FoundBrowser(path or "", "" if path else f"browser = {setting!r} is no program that can be run: {HOW}")
    found = next(filter(None, map(find, NAMES)), "")
    return FoundBrowser(found, "" if found else f"no browser is installed: {HOW}")


def _elsewhere(setting: str) -> FoundBrowser:
    try:
        read_remote(setting)
    except ValueError as error:  # never quote the setting: it may contain a token
        return FoundBrowser("", f"the setting browser has an address that can't be used: {error}")
    return FoundBrowser(setting, "")
