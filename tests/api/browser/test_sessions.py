from __future__ import annotations

from tests.api.browser.conftest import PASSWORD, NewTab
from tests.api.browser.origin import Answer, Origin
from tests.api.browser.service import Service
from tests.api.browser.tab import Tab


def signed_in(tab: Tab, password: str = PASSWORD) -> Tab:
    tab.open("/keys").fill(password=password).press("Sign in").sees("API keys")
    return tab


def test_x13_a_page_of_another_site_cannot_press(new_tab: NewTab, service: Service) -> None:
    tab = new_tab()
    tab.page.set_content(f"<form method=post action='{service.url}/sign-out'><button>Win</button></form>")
    tab.page.get_by_role("button", name="Win").click()
    tab.sees("Sign in")  # the browser sent no cookies
    tab.open("/").sees("Today")


def test_a_page_of_another_site_can_frame_none_of_ours(new_tab: NewTab, service: Service, origin: Origin) -> None:
    """The other site is a port of the same host, so the browser sends cookies; only the policy stops the frame."""
    ours = [service.url + path for path in ("/", "/sources", "/sign-in", "/docs", "/problems/url-refused")]
    frames = "".join(f"<iframe src='{url}'></iframe>" for url in (origin.page("/bait", "Bait", ["Win a boat"]), *ours))
    origin.says["/frames"] = Answer(f"<!doctype html>{frames}<object data='{service.url}/keys'></object>")
    page = new_tab().context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{origin.url}/frames")
    while any(frame.url in ("", "about:blank") for frame in page.main_frame.child_frames):
        page.wait_for_event("framenavigated")
    shown = [frame.url for frame in page.main_frame.child_frames]
    assert shown == [f"{origin.url}/bait", *["chrome-error://chromewebdata/"] * len(ours)]
    assert {*ours, f"{service.url}/keys"} <= {*asked}


def test_x14_a_session_ended_in_another_browser_asks_for_the_password(new_tab: NewTab) -> None:
    here, there = new_tab(), signed_in(new_tab(stranger=True))
    here.open("/settings").sees("2 browsers")
    here.press("Sign out all others").sees("All other browsers are signed out.")
    there.open("/settings").sees("Sign in")
    assert there.path == "/sign-in?next=%2Fsettings"
    assert {cookie["name"]: cookie["httpOnly"] for cookie in here.context.cookies() if cookie["name"] == "tz"} == {
        "tz": False
    }
    kept = [cookie for cookie in here.context.cookies() if cookie["name"] != "tz"]
    assert kept and all(cookie["httpOnly"] and cookie["sameSite"] == "Strict" for cookie in kept)


def test_x14_another_password_signs_everybody_else_out(new_tab: NewTab, service: Service) -> None:
    here, there = new_tab(), signed_in(new_tab(stranger=True))
    before = {cookie["value"] for cookie in here.context.cookies() if cookie["httpOnly"]}
    here.open("/settings").fill(present="wrong", password="a calm sea and a red sky", again="a calm sea and a red sky")
    here.press("Change the password").sees("Wrong password.")
    here.fill(present=PASSWORD, password="a calm sea and a red sky", again="a calm sea and a red sky")
    here.press("Change the password").sees("Password changed.")
    assert before - {cookie["value"] for cookie in here.context.cookies()}
    there.open("/").sees("Sign in")
    here.page.locator("header").get_by_role("button", name="Sign out").click()
    here.sees("You have signed out.")
    here.page.go_back()
    here.open("/").sees("Sign in")
    here.fill(password="a calm sea and a red sky").press("Sign in").sees("Today")
