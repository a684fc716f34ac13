"""Good and bad pages in a real browser. One browser renders all of them once, at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import trio

from actors.world import Rendered, RenderFailed
from extras.browser.flags import kind_of
from storage.records.event import LARGEST_PICTURE, described
from tests.extras.browser.real import BROWSER, Web, a_pool, a_web, shown
from tests.support.memory_network import Answer

pytestmark = pytest.mark.usefixtures("browser")
HTML = {"Content-Type": "text/html"}
JSON = {"Content-Type": "application/json"}
LIST = "<script>fetch('/items').then(r=>r.json()).then(d=>{for(const i of d){const l=document.createElement('li');\
l.textContent=i;document.body.append(l)}})</script><img src=/picture>"
PAGES = {
    "list": f"<!doctype html><meta charset=latin-1><title>å</title>{LIST}",
    "late": "<script>setTimeout(()=>{document.body.innerHTML='<p id=late>late</p>'},700)</script>",
    "window": "<p id=w></p><p id=y style=position:absolute;top:900px></p><script>"
    "w.textContent=innerWidth+'x'+innerHeight;"
    "requestAnimationFrame(()=>w.title='frame');new IntersectionObserver(e=>y.title=e[0].isIntersecting).observe(y)"
    "</script>",
    "clock": "<p id=c>0</p><script>setInterval(()=>{c.textContent=+c.textContent+1},50)</script>",
    "tampered": "<p>real</p><script>document.querySelector=()=>1;Object.defineProperty(Element.prototype,'outerHTML',"
    "{get:()=>'forged'});JSON.stringify=()=>'forged'</script>",
    "dialogs": "<p>after</p><script>alert(1);confirm(2);prompt(3);onbeforeunload=()=>1;print()</script>",
    "windows": "<p>after</p><script>for(let i=0;i<200;i++)window.open('/list')</script>",
    "endless": "<p>x</p><script>for(;;){}</script>",
    "reloading": "<p>x</p><script>location.reload()</script>",
    "nodes": "<div id=r></div><script>for(let i=0;i<50000;i++)r.append(document.createElement('i'))</script>",
    "huge": "<p id=h></p><script>h.textContent='x'.repeat(9e6)</script>",
    "asking": "<p>after</p><script>for(let i=0;i<100;i++)fetch('/items?'+i)</script>",
    "hungry": "<p>after</p><script>for(let i=0;i<9;i++)fetch('/large?'+i)</script>",
    "frames": "<p>after</p><script>f=()=>document.body.append(Object.assign(document.createElement('iframe'),"
    "{srcdoc:'<p>x'}));for(let i=0;i<100;i++)f()</script>",
    "cookie": "<p id=k></p><script>k.textContent='had:'+document.cookie+localStorage.a;document.cookie='a=1';"
    "localStorage.a=1</script>",
    "file": "<p>after</p><iframe src='file:///etc/passwd'></iframe><iframe src='view-source:file:///etc/passwd'></iframe>"
    "<script>fetch('file:///etc/passwd').then(r=>r.text()).then(t=>document.body.append(t)).catch(()=>0)</script>",
    "surrogate": "<p id=s></p><script>s.textContent='a\\ud800b'</script>",
    "shown": "<body style='margin:0;background:#0a0'><p style='height:3000px'>x</p>",
}
GIVEN: Mapping[str, Mapping[str, Any]] = {
    "late": {"wait_for": "#late"},
    "never": {"wait_for": "#never", "deadline": 6.0},
    "endless": {"deadline": 6.0},
    "asking": {"most_requests": 10},
    "hungry": {"most_bytes": 300_000},
    "shown": {"screenshot": True},
    "headed": {"headers": (("Authorization", "secret"),)},
    "session": {"headers": (("Cookie", "session=old; theme=dark"),)},
    "cut": {"headers": (("Cookie", "session=old"),)},
}


def furnish(site: Web) -> None:
    for path, html in PAGES.items():
        site.page(path, html)
    site.page("never", "<p>x</p>")
    site.page(
        "headed",
        f"<script>fetch('/own').catch(()=>0);fetch('http://site.test:{site.port}/other',"
        f"{{mode:'no-cors'}});fetch('/to?302=http://site.test:{site.port}/moved',{{mode:'no-cors'}})</script>",
    )
    site.pages["session"] = Answer(
        body=f"<script>document.cookie='seen=1';fetch('/asks').then(()=>fetch('http://site.test:{site.port}/away',"
        f"{{mode:'no-cors'}}))</script><p>x</p>".encode(),
        headers={**HTML, "Set-Cookie": "session=new; Path=/; HttpOnly; Max-Age=600"},
    )
    site.pages["items"] = Answer(body=b'["one","two"]', headers=JSON)
    site.pages["large"] = Answer(body=bytes(100_000), headers={"Cache-Control": "no-store"})
    site.pages["gone"] = Answer(410, b"<p>gone</p>", headers=HTML)
    site.pages["download"] = Answer(body=b"x", headers={"Content-Disposition": "attachment", "Content-Type": "x/y"})
    site.pages["cut"] = Answer(body=b"<p>half</p>" * 100, cut=300, headers={**HTML, "Set-Cookie": "session=next"})
    site.pages["empty"] = Answer(204)


@pytest.fixture(scope="module")
def evening(browser: None) -> tuple[Web, Mapping[str, Any]]:
    """The web with its requests, and each page's outcome."""
    outcomes: dict[str, Any] = {}

    async def look(site: Web, pool: Any, name: str) -> None:
        given = {"deadline": 30.0, **GIVEN.get(name, {})}
        outcomes[name] = await shown(pool, site.url(name), **given)

    async def pass_by() -> Web:
        async with a_web() as (site, _), a_pool(most_html=4 << 20) as pool:
            furnish(site)
            async with trio.open_nursery() as nursery:
                for name in [*PAGES, "never", "headed", "session", "gone", "download", "empty", "cut"]:
                    nursery.start_soon(look, site, pool, name)
            outcomes["again"] = await shown(pool, site.url("cookie"))
            outcomes["nowhere"] = await shown(pool, f"http://nowhere.test:{site.port}/")
            outcomes["tls"] = await shown(pool, f"https://site.test:{site.port}/")
            outcomes["statistics"] = pool.statistics()
        return site

    return trio.run(pass_by), outcomes


@pytest.fixture
def outcomes(evening: tuple[Web, Mapping[str, Any]]) -> Mapping[str, Any]:
    return evening[1]


def html_of(outcome: object) -> str:
    assert isinstance(outcome, Rendered), outcome
    return outcome.html.decode()


def failure_of(outcome: object) -> RenderFailed:
    assert isinstance(outcome, RenderFailed), outcome
    return outcome


def test_a_page_finds_a_whole_window_and_frames_although_hardly_any_of_it_is_drawn(outcomes: Mapping[str, Any]) -> None:
    html = html_of(outcomes["window"])
    assert ">1280x1024<" in html
    if kind_of(BROWSER) == "shell":  # in a whole browser an invisible tab has no frames
        assert 'title="frame"' in html and 'title="true"' in html


def test_a_page_has_the_text_its_scripts_made_and_names_its_json(
    evening: tuple[Web, Mapping[str, Any]],
) -> None:
    site, outcomes = evening
    page = outcomes["list"]
    assert html_of(page).startswith("<!DOCTYPE html><html>") and "<li>one</li><li>two</li>" in html_of(page)
    assert (page.status, page.settled, page.url) == (200, True, site.url("list")) and page.wire_bytes > 100
    assert [(found.url, found.size) for found in page.filled_by] == [(site.url("items"), 13)]
    assert "/picture" not in {asked.target for asked in site.seen}


def test_a_worker_names_itself_and_is_not_interactive(evening: tuple[Web, Mapping[str, Any]]) -> None:
    agents = {asked.headers["user-agent"] for asked in evening[0].seen}
    assert all("HeadlessChrome/" in agent and agent.endswith(" sanderling/1 (+https://a.example)") for agent in agents)
    assert len(agents) == 1


def test_given_headers_go_to_the_origin_of_the_page_alone(evening: tuple[Web, Mapping[str, Any]]) -> None:
    site, _ = evening
    sent = {asked.target.partition("?")[0]: asked.headers.get("authorization") for asked in site.seen}
    assert sent["/headed"] == sent["/own"] == sent["/to"] == "secret"
    assert sent["/other"] is None and sent["/moved"] is None and sent["/list"] is None


def test_given_cookies_are_followed_within_a_check_and_reported_at_its_end(
    evening: tuple[Web, Mapping[str, Any]],
) -> None:
    site, outcomes = evening
    sent = {asked.target: asked.headers.get("cookie") for asked in site.seen}
    assert sent["/session"] == "session=old; theme=dark"
    assert sorted((sent["/asks"] or "").split("; ")) == ["seen=1", "session=new", "theme=dark"]
    assert sent["/away"] is None
    kept = sorted(line.partition(";")[0] for line in outcomes["session"].set_cookies)
    assert kept == ["seen=1", "session=new"] and outcomes["list"].set_cookies == ()
    assert failure_of(outcomes["cut"]).set_cookies == ("session=next; Path=/",), "also of a page that broke off"


def test_wait_for_waits_for_its_element(outcomes: Mapping[str, Any]) -> None:
    assert '<p id="late">' in html_of(outcomes["late"])
    assert "'#never' within 6 s" in failure_of(outcomes["never"]).reason


def test_a_page_that_keeps_changing_is_reported_unsettled(outcomes: Mapping[str, Any]) -> None:
    assert not outcomes["clock"].settled and 'id="c"' in html_of(outcomes["clock"])


def test_x26_a_pages_scripts_cannot_falsify_its_text(outcomes: Mapping[str, Any]) -> None:
    assert "<p>real</p>" in html_of(outcomes["tampered"])


@pytest.mark.parametrize("name", ["dialogs", "windows", "frames"])
def test_limits_for_people_stop_no_check(outcomes: Mapping[str, Any], name: str) -> None:
    assert "<p>after</p>" in html_of(outcomes[name])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("endless", "did not come to rest within 6 s"),
        ("reloading", "reloaded itself|come to rest"),
        ("huge", "more than 4,194,304"),
        ("download", "no page"),
        ("empty", "ABORTED"),
        ("cut", "shorter than it says"),
        ("nowhere", "does not resolve"),
        ("tls", "ERR_CONNECTION_CLOSED|ERR_SSL"),
    ],
)
def test_a_page_that_can_not_be_rendered_fails_its_own_check_and_says_why(
    outcomes: Mapping[str, Any], name: str, says: str
) -> None:
    failure = failure_of(outcomes[name])
    assert failure.blame == "remote" and any(word in failure.reason for word in says.split("|")), failure.reason


def test_fifty_thousand_nodes_are_read(outcomes: Mapping[str, Any]) -> None:
    assert html_of(outcomes["nodes"]).count("<i></i>") == 50_000


def test_x26_beyond_its_share_a_page_gets_nothing_more(evening: tuple[Web, Mapping[str, Any]]) -> None:
    site, outcomes = evening
    assert "<p>after</p>" in html_of(outcomes["asking"]) and "<p>after</p>" in html_of(outcomes["hungry"])
    assert sum(asked.target.startswith("/items?") for asked in site.seen) <= 10
    assert outcomes["hungry"].wire_bytes < 500_000


def test_x26_a_page_finds_nothing_of_an_earlier_check(outcomes: Mapping[str, Any]) -> None:
    assert "had:undefined" in html_of(outcomes["cookie"]) and "had:undefined" in html_of(outcomes["again"])


def test_x26_a_page_reads_no_file_of_this_machine(outcomes: Mapping[str, Any]) -> None:
    assert "<p>after</p>" in html_of(outcomes["file"]) and "root:" not in html_of(outcomes["file"])


def test_an_answer_of_an_error_is_a_page_with_its_status(outcomes: Mapping[str, Any]) -> None:
    assert outcomes["gone"].status == 410 and "<p>gone</p>" in html_of(outcomes["gone"])


def test_half_a_character_is_replaced(outcomes: Mapping[str, Any]) -> None:
    assert "a?b" in html_of(outcomes["surrogate"]) or "a\ufffdb" in html_of(outcomes["surrogate"])


def test_a_picture_shows_the_page_in_its_height(outcomes: Mapping[str, Any]) -> None:
    picture = outcomes["shown"].screenshot
    found = described(picture)
    assert found is not None and found[:2] == ("image/webp", 1280)
    assert 3000 <= found[2] <= 3100 and len(picture) < LARGEST_PICTURE


def test_none_of_these_pages_cost_a_browser(outcomes: Mapping[str, Any]) -> None:
    assert outcomes["statistics"].lost == 0
