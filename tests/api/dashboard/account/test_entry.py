"""The set-up link, signing in and signing out."""

from __future__ import annotations

import random

from api.dashboard.account.entry import new_link
from tests.api.dashboard.browser import PASSWORD, Browser
from tests.api.house import House


async def test_from_the_set_up_link_to_today_and_out_again(house: House, stranger: Browser) -> None:
    path, link = new_link(random.Random("link").randbytes, house.context.world.now())
    await house.storage.people.offer(link)
    await stranger.get(path)
    await stranger.submit("/set-up", {"code": path.partition("#")[2], "password": PASSWORD, "again": PASSWORD})
    assert stranger.path == "/" and "Today" in stranger.text
    await stranger.submit("/sign-out")
    assert "You have signed out" in stranger.text
    await stranger.get("/")
    assert stranger.path == "/sign-in"
    await stranger.submit("/sign-in", {"password": "not it at all"})
    assert stranger.answer.status_code == 422 and "Wrong password" in stranger.text
    await stranger.submit("/sign-in", {"password": PASSWORD})
    assert stranger.path == "/"
