"""A real browser sends a source's headers and cookies only with requests of the source's own documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import trio

from extras.browser.page_view import PageView
from tests.extras.browser import credential_tricks as tricks
from tests.extras.browser import real
from tests.extras.browser.real import ORIGIN, Web, a_pool, a_web, shown
from tests.support.memory_network import Answer, ReceivedRequest

pytestmark = pytest.mark.usefixtures("browser")
SECRET = "SEKRET"
HEADERS = (("Authorization", f"Bearer {SECRET}"), ("Cookie", f"s={SECRET}"))
OWN = """<!doctype html><p>x</p>
<iframe src='http://{b}/stranger'></iframe><iframe src='http://{c}/neighbour'></iframe><iframe src='/framed'></iframe>
<script>
fetch('/asked');fetch('/posted',{{method:'POST',body:'x'}});
const late=()=>document.body.append(Object.assign(document.createElement('p'),{{id:'late'}}));
const poll=()=>fetch('/arrived').then(r=>r.ok?late():setTimeout(poll,300));poll()
</script>"""
LEAVING = {
    "form": "<form id=f method=post action='{u}'></form><script>f.submit()</script>",
    "fetch": "<script>fetch('{u}',{{mode:'no-cors',method:'POST',body:'x',credentials:'include'}})</script>",
    "get": "<script>fetch('{u}',{{mode:'no-cors',referrerPolicy:'no-referrer',credentials:'include'}})</script>",
    "late": "<script>onpagehide=()=>fetch('{u}',{{mode:'no-cors',keepalive:true,referrerPolicy:'no-referrer'}});"
    "location='http://{a}/empty'</script>",
}
"""Tricks of a foreign page after the source's own page has navigated the tab to it."""


@pytest.fixture(autouse=True)
def nothing_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extras.browser.page_view._DROPPED", frozenset())
    hosts = {host: [[ORIGIN]] for host in tricks.TRICKS}
    monkeypatch.setattr(Web, "answer", answered)
    monkeypatch.setattr(real, "NAMES", {**real.NAMES, **hosts})


def path_of(asked: ReceivedRequest) -> str:
    return asked.target.partition("?")[0]


def answered(
    site: Web, asked: ReceivedRequest, answer: Callable[[Web, ReceivedRequest], Answer] = Web.answer
) -> Answer:
    """Report when all tricks have arrived, so that the page can end."""
    if asked.target == "/arrived" and tricks.expected() <= {path_of(one) for one in site.seen}:
        return Answer(body=b"yes")
    return answer(site, asked)


async def tried() -> list[ReceivedRequest]:
    """Render the source's page with all tricks, and one page for each way to leave; return the origin's requests."""
    async with a_web() as (site, _), a_pool([]) as pool:
        hosts = {
            name: f"{host}:{site.port}"
            for name, host in zip("abc", ("site.test", "b.test", "c.site.test"), strict=True)
        }
        site.page("own", OWN.format(**hosts) + tricks.page(tricks.OWN, site.port))
        site.page("stranger", tricks.page(tricks.STRANGER, site.port))
        site.page("neighbour", tricks.page(tricks.NEIGHBOUR, site.port))
        site.page("framed", "<script>fetch('/frame-asked');fetch('/frame-posted',{method:'POST',body:'x'})</script>")
        site.page("empty", "<p>x</p>")
        for name, html in LEAVING.items():
            site.page(f"left-{name}", html.format(u=f"http://{hosts['a']}/leaving.{name}", **hosts))
            site.page(f"leaves-{name}", f"<script>location='http://{hosts['b']}/left-{name}'</script>")

        async def see(path: str, **given: Any) -> None:
            url = f"http://{hosts['a']}/{path}"
            await shown(pool, url, headers=HEADERS, deadline=50.0, most_requests=2000, **given)

        async with trio.open_nursery() as nursery:
            for name in LEAVING:
                nursery.start_soon(see, f"leaves-{name}")
            await see("own", wait_for="#late")
            nursery.cancel_scope.deadline = trio.current_time() + 30
        return [asked for asked in site.seen if asked.headers["host"] == hosts["a"]]


def carried(asked: list[ReceivedRequest]) -> Mapping[tuple[str, str], set[str]]:
    """Return the headers that carried the secret, by path and method."""
    found: dict[tuple[str, str], set[str]] = {}
    for one in asked:
        names = {name for name, value in one.headers.items() if SECRET in value}
        found.setdefault((path_of(one), one.method), set()).update(names)
    return found


async def test_x26_by_no_trick_does_a_frame_a_worker_or_a_redirect_act_as_the_owner() -> None:
    found = carried(await tried())
    both = {"authorization", "cookie"}
    leaks = {key: names for key, names in found.items() if "." in key[0] and names}
    assert leaks == {}
    missed = tricks.expected() - {target for target, _ in found}
    assert len(tricks.expected()) >= 80 and len(missed) <= 4, missed
    assert [found["/own", "GET"], found["/asked", "GET"], found["/posted", "POST"]] == [both] * 3
    assert [found["/framed", "GET"], found["/frame-asked", "GET"], found["/frame-posted", "POST"]] == [
        both,
        both,
        {"cookie"},
    ]


async def test_without_the_frame_rule_tricks_carry_the_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above could not fail."""
    monkeypatch.setattr(PageView, "_lends", lambda self, params: self._is_own(params["request"]["url"]))
    found = carried(await tried())
    assert len([target for (target, _), names in found.items() if "." in target and names]) >= 20
