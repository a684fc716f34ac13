"""Swedish and phones: from the set-up link to the first event; offline; notifications."""

from __future__ import annotations

from typing import Any

from tests.api.browser.conftest import PASSWORD, NewTab
from tests.api.browser.origin import Origin
from tests.api.browser.service import Service
from tests.api.browser.tab import Tab
from tests.api.browser.world import TICKETS
from tests.support.waiting import wait_until

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DEARER = [one.replace("18.00", "21.70") for one in TICKETS]


def fits(tab: Tab) -> bool:
    return bool(tab.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def test_from_the_link_to_the_first_event_and_an_alert_in_swedish(
    new_tab: NewTab, service: Service, origin: Origin
) -> None:
    page = origin.page("/farja", "The Sandwick ferry", TICKETS)
    tab = new_tab(stranger=True, locale="sv-SE").open(service.set_up_link())
    tab.sees("Välj ett lösenord")
    tab.fill(password=PASSWORD, again=PASSWORD).press("Spara lösenordet och börja").sees("Klistra in en URL")
    assert tab.run("document.documentElement.lang") == "sv"
    tab.fill(urls=page).press("Bevaka").sees("textstycken")
    tab.page.locator("[name=when]").select_option(label="aldrig, bara bevaka")
    tab.press("Starta").sees("Den följs från och med nu.")
    source = tab.path
    origin.page("/farja", "The Sandwick ferry", DEARER)
    wait_until(lambda: tab.open(source).press("Kontrollera nu").page.get_by_text("det finns nyheter").count())
    tab.follow("Meddela mig").fill(than="30").press("Skapa bevakningen")
    tab.sees("Bevakningen är skapad. Den har ingen destination ännu")
    tab.open("/stream").sees("Direkt")
    tab.page.keyboard.press("?")
    tab.page.get_by_text("Sök eller filtrera").wait_for()


def test_from_the_link_to_the_first_event_on_a_phone(new_tab: NewTab, service: Service, origin: Origin) -> None:
    page = origin.page("/ferry", "The Sandwick ferry", TICKETS)
    tab = new_tab(stranger=True, **PHONE).open(service.set_up_link())
    assert fits(tab)
    tab.fill(password=PASSWORD, again=PASSWORD).press("Set the password and begin").sees("Today")
    bar = tab.page.locator("nav a:visible")
    assert bar.all_inner_texts() == ["Today", "Sources", "Alerts", "Stream", "More"]
    low = tab.run("document.querySelector('.side nav').getBoundingClientRect().bottom")
    assert low == PHONE["viewport"]["height"]
    tab.open("/sources/add").fill(urls=page).press("Preview").sees("4 blocks of text")
    assert fits(tab)
    tab.press("Start").sees("Alert created. It has no destination yet")
    assert fits(tab)
    source = tab.path
    origin.page("/ferry", "The Sandwick ferry", DEARER)
    wait_until(lambda: tab.open(source).press("Check now").page.get_by_text("there is a change").count())
    for name in ("Sources", "Stream", "Alerts", "More"):
        tab.page.locator("nav").get_by_role("link", name=name, exact=True).tap()
        tab.page.wait_for_url(f"**/{name.lower()}")
        assert fits(tab), name
    tab.press("Sign out").sees("You have signed out.")


def test_an_offline_page_appears_while_the_service_is_unreachable(new_tab: NewTab) -> None:
    tab = new_tab().open("/settings")
    tab.run("navigator.serviceWorker.ready.then((worker) => worker.active.state)")
    wait_until(lambda: tab.run("caches.match('/offline').then(Boolean)"))
    tab.context.set_offline(True)
    tab.open("/sources").sees("The service can't be reached")
    assert tab.run("getComputedStyle(document.body).margin") == "0px", "its style was kept as well"
    tab.context.set_offline(False)
    tab.follow("Try again").sees("Today")
    tab.problems.clear()  # the console reports the missing network


def test_notifications_are_enabled_in_settings_and_shown_in_a_background_tab(
    new_tab: NewTab, service: Service, origin: Origin
) -> None:
    tab = new_tab(permissions=["notifications"]).open("/settings")
    tab.press("Notify me of new events").sees("Turn off notifications")
    tab.open("/stream").sees("Live")
    tab.run(HIDDEN)
    source = service.add(origin.page("/news", "The Sandwick ferry", TICKETS))["id"]
    origin.page("/news", "The Sandwick ferry", DEARER)
    service.look(source)
    wait_until(lambda: tab.run("window.shown.length"))
    ((title, path),) = tab.run("window.shown")
    assert (title, path.rpartition("/")[0]) == ("The Sandwick ferry", "/events")


HIDDEN = """(async () => {
  const worker = await navigator.serviceWorker.ready;
  window.shown = [];
  worker.showNotification = async (title, options) => { window.shown.push([title, options.data]); };
  Object.defineProperty(document, "hidden", {get: () => true});
  document.dispatchEvent(new Event("visibilitychange"));
})()"""
