"""Web Push in a browser, with our push service, a handmade subscription and a real service worker.

Headless Chromium cannot reach its vendor's push service, so a stand-in for `PushManager` returns our subscription. The
test decrypts each message and hands it to the service worker, as the browser would.
"""

from __future__ import annotations

import json
import time
from typing import Any

from tests.api.browser.conftest import NewTab
from tests.api.browser.origin import Answer, Origin
from tests.api.browser.service import Service
from tests.api.browser.tab import Tab
from tests.extras.webpush.device import Device
from tests.support.waiting import HANG, wait_until

STAND_IN = """(() => {
  const get = () => JSON.parse(localStorage.getItem("stand-in"));
  const set = (it) => localStorage.setItem("stand-in", JSON.stringify(it));
  const made = ({key}) => ({
    endpoint: ENDPOINT,
    options: {applicationServerKey: new Uint8Array(key).buffer},
    toJSON: () => ({endpoint: ENDPOINT, keys: KEYS}),
    unsubscribe: async () => { set(null); return true; },
  });
  PushManager.prototype.getSubscription = async () => { const it = get(); return it && made(it); };
  PushManager.prototype.subscribe = async ({userVisibleOnly, applicationServerKey}) => {
    if (!userVisibleOnly) throw new Error("not allowed");
    set({key: [...applicationServerKey]});
    return made(get());
  };
})()"""


def standing_in(tab: Tab, endpoint: str, device: Device) -> Tab:
    script = STAND_IN.replace("ENDPOINT", json.dumps(endpoint)).replace("KEYS", json.dumps(device.options))
    tab.context.add_init_script(script)
    return tab


def shown_by_worker(tab: Tab, payload: str) -> Any:
    """Deliver a push message to the service worker and return the notifications that it shows.

    Chromium may drop a message while it starts the worker, and reports nothing: the test delivers it again after 10 s.
    """
    wait_until(lambda: tab.run("navigator.serviceWorker.ready.then((worker) => worker.active.state)") == "activated")
    session, found = tab.context.new_cdp_session(tab.page), []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda event: found.extend(event["registrations"]))
    session.send("ServiceWorker.enable")
    wait_until(lambda: found or tab.run("1") != 1)
    message = {"origin": tab.url, "registrationId": found[0]["registrationId"], "data": payload}
    notifications = (
        "navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => all.map("
        "({title, body, tag, lang, data, icon}) => [title, body, tag, lang, data, new URL(icon, location).pathname]))"
    )
    shown, deliver_at = [], 0.0
    end = time.perf_counter() + HANG
    while not shown and time.perf_counter() < end:
        if time.perf_counter() >= deliver_at:
            session.send("ServiceWorker.deliverPushMessage", message)
            deliver_at = time.perf_counter() + 10
        time.sleep(0.02)
        shown = tab.run(notifications)
    session.detach()
    return shown[:1]


def test_a_device_gets_a_notification_shows_it_and_gets_no_more_once_removed(
    new_tab: NewTab, service: Service, origin: Origin
) -> None:
    alert = service.ask("POST", "/v1/alerts", {"filter_query": "", "name": "Fares of the ferry"})
    device = Device()
    origin.says["/send/1"] = Answer("", 201)
    tab = standing_in(new_tab(permissions=["notifications"]), f"{origin.url}/send/1", device)
    tab.open(f"/settings?alert={alert['id']}").fill(label="The phone").press("Notify this device")
    tab.sees("The phone now gets the matches of “Fares of the ferry”.")
    ((_, body),) = origin.taken
    payload = device.read(body).decode()
    ((title, text, tag, lang, place, icon),) = shown_by_worker(tab, payload)
    assert (title, text) == ("A test notification", "This device gets notifications like this one.")
    assert (tag, lang, icon) == (json.loads(payload)["tag"], "en", "/touch-icon.png")
    assert place.startswith("/destinations/")
    tab.open("/settings").page.locator("[data-mark]:visible").get_by_text("this one").wait_for()
    tab.press("No notifications on this device any more").sees("1 destination is deleted")
    assert tab.run("localStorage.getItem('stand-in')") == "null"
    assert not tab.page.get_by_text("The phone").count()
    assert tab.page.get_by_role("button", name="No notifications on this device any more").count() == 0


def test_a_message_that_cannot_be_read_is_shown_all_the_same(new_tab: NewTab) -> None:
    tab = new_tab(permissions=["notifications"]).open("/settings")
    ((title, *_),) = shown_by_worker(tab, "no JSON")
    assert title == "Sanderling"


def test_a_device_without_notifications_shows_the_reason(new_tab: NewTab, service: Service) -> None:
    service.ask("POST", "/v1/alerts", {"filter_query": "", "name": "Anything"})
    for script, says in (
        ("Object.defineProperty(window, 'isSecureContext', {get: () => false})", "was not loaded over HTTPS"),
        ("delete window.PushManager", "put this page on the home screen"),
        ("Object.defineProperty(Notification, 'permission', {get: () => 'denied'})", "refuses notifications"),
    ):
        tab = new_tab()
        tab.context.add_init_script(script)
        tab.open("/settings").sees(says)
        assert tab.page.get_by_role("button", name="Notify this device").is_disabled()


def test_a_refusal_of_the_browser_is_shown_and_can_be_retried(new_tab: NewTab, service: Service) -> None:
    alert = service.ask("POST", "/v1/alerts", {"filter_query": "", "name": "Refused"})
    tab = new_tab(permissions=["notifications"])
    tab.context.add_init_script("PushManager.prototype.subscribe = async () => { throw new Error('no network'); }")
    tab.open(f"/settings?alert={alert['id']}").press("Notify this device")
    tab.sees("The browser did not do it: no network")
    assert tab.page.get_by_role("button", name="Notify this device").is_enabled()
