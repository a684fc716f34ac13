"""The first five minutes: from the set-up link to a delivered webhook, with the commands that pages show."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from threading import Timer

import pytest

from tests.api.browser.conftest import PASSWORD, NewTab
from tests.api.browser.origin import Entry, Origin
from tests.api.browser.service import ENVIRONMENT, Service
from tests.api.browser.tab import Tab
from tests.support.waiting import HANG, wait_until


def test_the_first_five_minutes(new_tab: NewTab, service: Service, origin: Origin) -> None:
    tab = new_tab(stranger=True, permissions=["clipboard-read", "clipboard-write"])
    link = service.set_up_link()
    tab.open(link)
    assert tab.page.locator(":focus").get_attribute("name") == "password"
    assert not tab.page.locator("#f-code").is_visible()
    tab.fill(password="too short", again="too short")
    tab.sees("1 more characters are needed.")
    tab.fill(password=PASSWORD, again=PASSWORD)
    tab.sees("Strong.")
    tab.press("Set the password and begin").sees("Paste any URL")

    feed = origin.feed("/notes", "Notes of the beach", [Entry("The tide", "High at noon.")])
    tab.open("/").fill(urls=feed).press("Watch").sees("1 entry now")
    assert "The body is" in tab.text or "feed" in tab.text
    tab.unfold("What it would report").sees("Its schedule")
    tab.press("Start").sees("Notes of the beach")

    tab.open("/first-steps")
    tab.press("Change the page now")
    tab.page.locator("#noticed").wait_for()
    noticed = " ".join(tab.page.locator("#noticed").inner_text().split())
    assert re.search(r"− removed: Single, adult: \d.* \+ added: Single, adult: \d", noticed), noticed
    assert "✓ verified signed with key" in noticed
    assert "Why it was reported: The change scored" in noticed

    tab.press("Make a key, and show the command with it").sees("It is shown only once.")
    command = tab.page.locator(".secret pre").inner_text()
    tab.press("Copy the Command with a fresh key").sees("Copied")
    assert tab.page.evaluate("navigator.clipboard.readText()") == command
    open_before = service.streams()
    with _running(shlex.split(command)) as curl:
        wait_until(lambda: service.streams() > open_before)
        change_again(tab, "Change the page now")
        told = _line(curl, "data:")
        assert '"practice:page"' in told

    tab.press("Send a test webhook").sees("Test inbox")
    assert tab.page.locator("tbody tr").count() == 1
    assert tab.page.locator("tbody").get_by_text("verified").count() == 2
    tab.page.locator("tbody th a").click()
    tab.sees("Signatures on arrival")


def test_a_tail_in_the_terminal_shows_the_same_events_as_the_browser(new_tab: NewTab, service: Service) -> None:
    tab = new_tab().open("/first-steps")
    tab.press("Add to the feed").page.locator("#noticed").wait_for()
    command = [
        sys.executable,
        "-P",
        "-m",
        *shlex.split(tab.page.locator("pre", has_text="sanderling tail").inner_text().removeprefix("bin/")),
    ]
    open_before = service.streams()
    with _running([*command, "--json"]) as tail:
        wait_until(lambda: service.streams() > open_before)
        change_again(tab, "Add to the feed")
        assert '"practice:feed"' in _line(tail, "{")
    tab.press("End the practice").sees("Practice ended")


def change_again(tab: Tab, button: str) -> None:
    """Press a practice button until enough time has passed for a change."""
    wait_until(lambda: tab.press(button).sees("Practice").is_visible() and "Nothing changed" not in tab.text)


def _running(command: list[str], more: dict[str, str] | None = None) -> _Ended:
    environment = ENVIRONMENT | (more or {})
    return _Ended(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)


class _Ended(subprocess.Popen[str]):
    """A command that is killed at the end of its block, or after `HANG` seconds."""

    def __enter__(self) -> _Ended:
        self.timer = Timer(HANG, self.kill)
        self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        self.kill()
        super().__exit__(None, None, None)


def _line(process: subprocess.Popen[str], begins: str) -> str:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if line.startswith(begins):
            return line
    pytest.fail(f"the command ended: {seen}")
