from __future__ import annotations

import base64
from itertools import count
from typing import Any

import pytest

from extras.browser.leases import Trouble
from extras.browser.page_view import MOMENT, MOST_NAVIGATIONS, MOST_READINGS, PATIENCE, PageViewState
from tests.extras.browser.scripts import OWN, URL, Script


def read_twice(script: Script) -> Script:
    script.wait(1)
    script.world()
    script.read(None)
    script.wait(1)
    script.read("<p>new</p>", again=True)
    return script


def failure(script: Script) -> tuple[str, str]:
    assert script.look.failure is not None and script.look.over
    return script.look.failure.blame, script.look.failure.reason


def test_a_check_opens_its_own_context_and_tab_and_ends_when_complete() -> None:
    script = Script(language="sv")
    assert script.sent[0].params["proxyServer"] == "http://127.0.0.1:4001"
    assert script.sent[0].params["proxyBypassList"] == "<-loopback>"
    script.answer("context", browserContextId="C")
    assert script.last("Browser.setDownloadBehavior").params == {"behavior": "deny", "browserContextId": "C"}
    script.answer("target", targetId="T")
    script.answer("session", sessionId="S")
    assert script.last("Fetch.enable").session == "S" and script.count("Page.navigate") == 0
    agent = script.last("Network.setUserAgentOverride").params
    assert agent == {"userAgent": f"{OWN} sanderling/1", "acceptLanguage": "sv"}
    script.answer("prepared")
    assert script.sent[-1].params == {"url": URL}
    assert [command.method for command in script.look.end()] == ["Target.closeTarget", "Target.disposeBrowserContext"]


def let_go() -> Script:
    script = Script(held_back=True)
    script.answer("context", browserContextId="C")
    script.attached()
    script.answer("target", targetId="T")
    return script


def test_a_held_tab_opens_the_page_once_all_of_it_is_received() -> None:
    script = Script(held_back=True)
    script.answer("context", browserContextId="C")
    assert script.last("Target.createTarget").params["url"] == URL
    assert script.attached(context="another") == []
    told = [command.method for command in script.attached()]
    assert {"Network.setUserAgentOverride", "Fetch.enable"} <= {*told[:-1]}
    assert told[-1] == "Runtime.runIfWaitingForDebugger" and "Page.navigate" not in told
    assert script.answer("target", targetId="T") == []
    script.answer("let go")
    look = read_twice(script.loaded()).look
    assert look.failure is None and look.html == "<p>new</p>"


def test_a_window_that_a_page_opened_is_let_go_and_closed_for_held_back_it_would_hold_the_page_too() -> None:
    script = let_go()
    (told,) = script.attached("S2", "T2")
    assert (told.method, told.session) == ("Runtime.runIfWaitingForDebugger", "S2")
    assert script.look.session == "S"
    opened = {"targetId": "T2", "type": "page", "browserContextId": "C"}
    assert script.say("Target.targetCreated", targetInfo=opened)[-1].params == {"targetId": "T2"}


def test_a_page_without_picture_draws_one_line_in_a_whole_window() -> None:
    tab, window = (
        let_go().last("Target.createTarget").params,
        let_go().last("Emulation.setDeviceMetricsOverride").params,
    )
    assert (tab["width"], tab["height"]) == (1280, 1) and "hidden" not in tab, "of a hidden one all would be drawn"
    assert (window["width"], window["height"], window["dontSetVisibleSize"]) == (1280, 1024, True)
    shown = Script(held_back=True, screenshot=True)
    shown.answer("context", browserContextId="C")
    shown.attached()
    assert "height" not in shown.last("Target.createTarget").params and not shown.count(
        "Emulation.setDeviceMetricsOverride"
    )


def test_a_tab_that_was_let_go_and_gets_no_document_says_so() -> None:
    script = let_go()
    script.ask("d", "Document")
    script.say("Network.loadingFailed", requestId="d", type="Document", errorText="net::ERR_ABORTED", canceled=True)
    assert not script.look.over, "it may still be said that a file comes"
    assert script.wait(MOMENT) == []
    assert failure(script) == ("remote", "the page broke off its own loading (ERR_ABORTED)")


def test_a_file_that_comes_in_the_place_of_the_page_is_none_and_one_that_a_page_sends_is_its_own_affair() -> None:
    script = let_go()
    script.say("Network.loadingFailed", requestId="d", type="Document", errorText="net::ERR_ABORTED", canceled=True)
    script.say("Page.downloadWillBegin")
    assert failure(script) == ("remote", "this is a file to be downloaded, no page")
    script = let_go().loaded()
    script.ask("2", "Document")
    script.say("Network.loadingFailed", requestId="2", type="Document", errorText="net::ERR_ABORTED", canceled=True)
    script.say("Page.downloadWillBegin")
    assert read_twice(script).look.failure is None


def test_a_document_that_breaks_off_is_no_page_and_a_frame_of_it_may() -> None:
    broken = {"type": "Document", "errorText": "net::ERR_CONTENT_LENGTH_MISMATCH"}
    script = Script().opened().loaded()
    script.say("Network.loadingFailed", requestId="d", **broken)
    assert failure(script) == ("remote", "the answer is shorter than it says (ERR_CONTENT_LENGTH_MISMATCH)")
    script = Script().opened().loaded()
    script.ask("2", "Document", frame="F")
    response = {"url": URL, "status": 200, "mimeType": "text/html"}
    script.say("Network.responseReceived", requestId="2", type="Document", frameId="F", response=response)
    script.say("Network.loadingFailed", requestId="2", **broken)
    assert read_twice(script).look.failure is None


def test_a_page_is_read_when_it_was_quiet_for_300_ms_and_is_settled_when_it_is_the_same_twice() -> None:
    script = Script().opened().loaded()
    assert script.wait(0.29) == [] and script.look.state is PageViewState.LOADING
    script.ask("1")
    assert script.wait(1) == [], "a request is under way"
    script.say("Network.loadingFinished", requestId="1")
    assert script.wait(0.29) == []
    script.wait(0.02)
    script.world()
    script.read(None)
    assert script.wait(0.49) == []
    script.wait(0.02)
    script.read("<p>new</p>", again=True)
    look = script.look
    assert look.over and look.failure is None
    assert (look.html, look.settled, look.status, look.requests, look.at) == ("<p>new</p>", True, 200, 2, URL)


def test_a_request_without_an_end_is_not_waited_for() -> None:
    script = Script().opened().loaded()
    script.ask("poll")
    script.ask("events", "EventSource")
    script.wait(PATIENCE - 0.1)
    assert script.look.state is PageViewState.LOADING
    script.wait(0.2)
    assert script.look.state is PageViewState.READING


def test_a_page_that_never_repeats_is_reported_unsettled() -> None:
    script = Script().opened().loaded()
    script.wait(1)
    script.world()
    for number in range(MOST_READINGS):
        script.read(f"<p>{number}</p>")
        script.wait(1)
    assert script.look.over and not script.look.settled and script.look.html == f"<p>{MOST_READINGS - 1}</p>"


def test_a_page_that_never_comes_to_rest_is_read_while_there_is_time() -> None:
    script = Script(deadline=10.0).opened()
    script.loaded()
    began = script.now
    for number in range(90):
        script.ask(str(number))
        if script.wait(0.1):
            break
    assert script.now - began == pytest.approx(8.0)
    script.world()
    assert "true)" in script.sent[-1].params["expression"], "what is read now may be all there will be"


def test_wait_for_is_polled_in_an_isolated_world_until_it_appears() -> None:
    script = Script(wait_for='div[data-x="1"]').opened()
    script.wait(1)
    assert script.count("Page.createIsolatedWorld") == 0, "there is no document yet"
    script.loaded()
    script.wait(1)
    script.world()
    assert r'querySelector("div[data-x=\"1\"]")' in script.sent[-1].params["expression"]
    script.answer("waited", result={"value": False})
    assert script.wait(0.1) == []
    script.wait(0.2)
    script.answer("waited", result={"value": True})
    assert script.look.state is PageViewState.READING


@pytest.mark.parametrize(
    ("answer", "says"), [({"exceptionDetails": {}}, "no CSS selector"), ({"result": {"value": False}}, "within 30 s")]
)
def test_an_element_waited_for_in_vain_is_named(answer: dict[str, object], says: str) -> None:
    script = Script(wait_for="p>>q").opened().loaded()
    script.wait(1)
    script.world()
    while not script.look.over:
        script.answer("waited", **answer)
        script.wait(60)
    assert failure(script)[0] == "remote" and "'p>>q'" in failure(script)[1] and says in failure(script)[1]


def test_pictures_and_fonts_are_dropped_unless_somebody_wants_to_see_the_page() -> None:
    kinds = ("Image", "Font", "Media", "Script", "Stylesheet", "XHR")
    for screenshot, dropped in ((False, {"Image", "Font", "Media"}), (True, {"Media"})):
        script = Script(screenshot=screenshot).opened().loaded()
        words = {kind: script.ask(kind, kind)[-1].method for kind in kinds}
        assert {kind for kind, word in words.items() if word == "Fetch.failRequest"} == dropped


def test_beyond_its_requests_a_page_gets_nothing() -> None:
    script = Script(most_requests=3).opened().loaded()
    words = [script.ask(str(n))[-1].method for n in range(4)]
    assert words == ["Fetch.continueRequest"] * 2 + ["Fetch.failRequest"] * 2


BESIDE = "https://a.example/other"
NUMBERS = count()


def lent(script: Script, url: str = BESIDE, frame: str = "T", kind: str = "XHR", **given: Any) -> dict[str, str]:
    """Return the headers of a request after the render continues it. headers: those that the page sends."""
    request = {"url": url, "headers": given.pop("headers", {}), "method": given.pop("method", "GET")}
    paused = {"requestId": "i", "networkId": str(next(NUMBERS)), "resourceType": kind, "frameId": frame, **given}
    command = script.say("Fetch.requestPaused", **paused, request=request)[-1]
    return {pair["name"]: pair["value"] for pair in command.params["headers"]}


def shows(script: Script, frame: str, url: str) -> None:
    script.say("Page.frameNavigated", frame={"id": frame, "url": url, "parentId": "T"})


def test_given_headers_go_to_the_origin_alone_also_behind_a_redirect() -> None:
    script = Script(headers=(("Authorization", "secret"),)).opened().loaded()
    assert lent(script, headers={"Accept": "*/*"}) == {"Accept": "*/*", "Authorization": "secret"}
    for elsewhere in (
        "http://a.example/",
        "https://a.example:8443/",
        "https://b.a.example/",
        "blob:https://a.example/1",
    ):
        assert lent(script, elsewhere, headers={"Accept": "*/*", "authorization": "secret"}) == {"Accept": "*/*"}


@pytest.mark.parametrize(
    ("frame", "kind", "given", "whose"),
    [
        ("T", "XHR", {"method": "POST", "headers": {"Origin": "https://a.example"}}, "all"),
        ("T", "Document", {}, "all"),
        ("T", "Document", {"headers": {"Referer": "https://b.example/"}}, "all"),
        ("T", "Document", {"method": "POST", "headers": {"Origin": "https://b.example"}}, "none"),
        ("T", "XHR", {"headers": {"Referer": "https://b.example/"}}, "none"),
        ("T", "XHR", {"networkId": None}, "cookie"),
        ("own", "XHR", {}, "all"),
        ("own", "XHR", {"method": "POST"}, "cookie"),
        ("blank", "XHR", {}, "all"),
        ("foreign", "XHR", {}, "none"),
        ("foreign", "XHR", {"method": "POST"}, "none"),
        ("data", "XHR", {}, "none"),
        ("unheard", "XHR", {}, "none"),
        ("foreign", "Document", {}, "none"),
        ("new", "Document", {"headers": {"Referer": URL}}, "all"),
        ("new", "Document", {"headers": {"Referer": "https://b.example/"}}, "none"),
        ("T", "XHR", {"networkId": "strayed"}, "none"),
    ],
)
def test_x26_a_sources_credentials_are_sent_to_its_own_documents_only(
    frame: str, kind: str, given: dict[str, Any], whose: str
) -> None:
    script = Script(headers=(("Authorization", "secret"), ("Cookie", "s=1"))).opened().loaded()
    shown = {"own": BESIDE, "blank": "about:blank", "foreign": "https://b.example/", "data": "data:,x"}
    for name, url in shown.items():
        shows(script, name, url)
    lent(script, "https://b.example/", networkId="strayed")
    headers = {"Cookie": "s=1", **given.get("headers", {})}
    found = lent(script, frame=frame, kind=kind, **{**given, "headers": headers})
    assert (found["Cookie"], found.get("Authorization")) == {
        "all": ("s=1", "secret"),
        "cookie": ("s=1", None),
        "none": ("s=", None),
    }[whose]


def test_x26_a_tab_at_another_origin_has_no_credentials_until_it_is_back() -> None:
    script = Script(headers=(("Authorization", "secret"),)).opened().loaded()
    shows(script, "own", BESIDE)
    lent(script, "https://b.example/", kind="Document")
    assert lent(script) == lent(script, frame="own") == {}
    script.say("Page.frameNavigated", frame={"id": "T", "url": "https://b.example/"})
    assert lent(script) == lent(script, kind="Document", method="POST") == {}
    assert lent(script, kind="Document") == {"Authorization": "secret"}
    script.say("Page.frameNavigated", frame={"id": "T", "url": URL})
    assert lent(script) == {}, "it may come from the document before"
    assert lent(script, headers={"Referer": URL})["Authorization"] == "secret"


def test_a_refusal_by_the_proxy_is_a_refusal_under_any_browser_error() -> None:
    refused = Trouble("refused", "10.0.0.1 is not public")
    plain = Script().opened()
    plain.troubles["inside.example", 80] = refused
    plain.ask("d", "Document")
    response = {"url": "http://inside.example/", "status": 403, "headers": {"Sanderling-Refused": "m1"}}
    plain.say("Network.responseReceived", requestId="d", type="Document", frameId="T", response=response)
    tunnel = Script().opened()
    tunnel.troubles["inside.example", 443] = refused
    tunnel.ask("d", "Document", "https://inside.example/x")
    tunnel.answer("navigated", frameId="T", errorText="net::ERR_TUNNEL_CONNECTION_FAILED")
    later = Script().opened().loaded()
    later.troubles["inside.example", 443] = refused
    later.say(
        "Page.frameNavigated",
        frame={"id": "T", "url": "chrome-error://x/", "unreachableUrl": "https://inside.example/"},
    )
    assert failure(plain) == failure(tunnel) == failure(later) == ("refused", refused.reason)


def test_a_host_that_says_our_word_without_knowing_it_is_a_page_like_any_other() -> None:
    script = Script().opened().loaded(403, headers={"sanderling-refused": "guess"})
    assert read_twice(script).look.status == 403 and script.look.failure is None


def test_a_place_that_is_not_of_the_web_is_refused() -> None:
    script = Script().opened().loaded()
    script.say(
        "Page.frameNavigated", frame={"id": "T", "url": "chrome-error://x/", "unreachableUrl": "file:///etc/passwd"}
    )
    assert failure(script)[0] == "refused"


def test_an_error_is_reported_in_words() -> None:
    script = Script().opened()
    script.answer("navigated", frameId="T", errorText="net::ERR_CERT_DATE_INVALID")
    assert failure(script) == ("remote", "the certificate is out of date (ERR_CERT_DATE_INVALID)")
    script = Script().opened()
    script.answer("navigated", frameId="T", isDownload=True)
    assert "no page" in failure(script)[1]


def test_a_pages_dialogs_are_answered_or_end_its_check() -> None:
    script = Script().opened().loaded()
    assert script.say("Page.javascriptDialogOpening", type="prompt")[-1].params == {"accept": False}
    assert script.say("Page.javascriptDialogOpening", type="beforeunload")[-1].params == {"accept": True}
    opened = script.say("Target.targetCreated", targetInfo={"targetId": "W", "type": "page"})
    assert opened[-1].method == "Target.closeTarget" and opened[-1].params == {"targetId": "W"}
    assert script.say("Target.targetCreated", targetInfo={"targetId": "T", "type": "page"}) == []
    script.say("Target.targetCrashed", targetId="W")
    assert not script.look.over
    script.say("Target.targetCrashed", targetId="T")
    assert failure(script)[0] == "remote" and "crashed" in failure(script)[1]


def test_a_page_that_reloads_itself_for_ever_is_ended() -> None:
    script = Script().opened().loaded()
    for _ in range(MOST_NAVIGATIONS):
        script.say("Page.frameNavigated", frame={"id": "T", "url": URL})
    assert "reloaded itself more than" in failure(script)[1]


def test_frames_inside_are_not_the_page() -> None:
    script = Script().opened().loaded()
    for _ in range(MOST_NAVIGATIONS + 1):
        script.say("Page.frameNavigated", frame={"id": "F", "parentId": "T", "url": "https://b.example/"})
    answer = {"url": "https://b.example/", "status": 500, "headers": {}}
    script.say("Network.responseReceived", requestId="f", type="Document", frameId="F", response=answer)
    assert read_twice(script).look.status == 200


def test_a_page_that_navigates_while_read_is_read_at_its_last_url() -> None:
    script = Script().opened().loaded()
    script.wait(1)
    script.world()
    script.say("Page.frameNavigated", frame={"id": "T", "url": "https://a.example/next"})
    assert script.look.state is PageViewState.LOADING
    script.answer("read", "Execution context was destroyed.")
    script.say("Page.loadEventFired")
    script.wait(1)
    script.world()
    script.read(None)
    script.wait(1)
    script.read("<p>next</p>", again=True, at="https://a.example/next")
    assert (script.look.at, script.look.html) == ("https://a.example/next", "<p>next</p>")


def test_a_page_that_is_too_large_is_not_taken() -> None:
    script = Script(most_html=100).opened().loaded()
    script.wait(1)
    script.world()
    script.read(None, size=101)
    assert failure(script)[0] == "remote" and "101 characters" in failure(script)[1]


@pytest.mark.parametrize(
    ("upto", "blame", "says"),
    [("nothing", "local", "did not open"), ("opened", "remote", "TIMED_OUT"), ("loaded", "remote", "come to rest")],
)
def test_at_the_deadline_the_error_names_the_step_that_hung(upto: str, blame: str, says: str) -> None:
    script = Script(deadline=5.0)
    if upto != "nothing":
        script.opened()
    if upto == "loaded":
        script.loaded()
    while not script.look.over:
        script.wait(60)
    assert failure(script)[0] == blame and says in failure(script)[1]
    assert script.now == pytest.approx(105.0)


def test_text_read_before_the_deadline_counts() -> None:
    script = Script(deadline=5.0).opened().loaded()
    script.wait(1)
    script.world()
    script.read("<p>one</p>")
    while not script.look.over:
        script.wait(60)
    assert script.look.failure is None and script.look.html == "<p>one</p>" and not script.look.settled


def test_a_screenshot_shows_the_text_that_was_read() -> None:
    script = Script(screenshot=True).opened().loaded()
    read_twice(script)
    assert script.sent[-1].params["clip"]["height"] == 900 and not script.look.over
    script.answer("shown", data=base64.b64encode(b"PNG").decode())
    assert script.look.over and script.look.screenshot == b"PNG"
    script = read_twice(Script(screenshot=True).opened().loaded())
    script.answer("shown", "it could not be drawn")
    assert script.look.failure is None and script.look.screenshot == b"" and script.look.html


def test_the_json_that_filled_a_page_is_named_the_largest_first() -> None:
    script = Script().opened().loaded()
    for number, (kind, size) in enumerate([("application/json", 10), ("application/ld+json", 30), ("text/html", 99)]):
        script.ask(str(number), url=f"https://a.example/{number}")
        answer = {"url": f"https://a.example/{number}", "status": 200, "mimeType": kind}
        script.say("Network.responseReceived", requestId=str(number), type="XHR", frameId="T", response=answer)
        script.say("Network.dataReceived", requestId=str(number), dataLength=size)
        script.say("Network.loadingFinished", requestId=str(number))
    script.ask("broken")
    script.say("Network.loadingFailed", requestId="0", errorText="net::ERR_FAILED")
    assert script.look.filled() == [("https://a.example/1", 30)]


@pytest.mark.parametrize("tag", ["context", "target", "session", "prepared", "let go"])
def test_a_browser_that_opens_no_page_is_to_blame_itself(tag: str) -> None:
    script = Script()
    script.answer(tag, "no room")
    assert failure(script) == ("local", "the browser would not open a page: no room")


def test_a_context_that_comes_after_the_end_is_thrown_away_too() -> None:
    script = Script()
    script.look.fail("given up", "local")
    script.answer("context", browserContextId="late")
    assert script.look.end()[-1].params == {"browserContextId": "late"}


def test_the_browser_gets_the_cookies_and_the_answers_update_them() -> None:
    script = Script(headers=(("Cookie", "session=old; theme=a=b"),)).opened().loaded()
    methods = [command.method for command in script.sent]
    assert methods.index("Storage.setCookies") < methods.index("Target.createTarget")
    given = script.last("Storage.setCookies").params
    kept = {"url": URL, "path": "/", "secure": True, "httpOnly": True, "sameSite": "Lax"}
    cookies = [{"name": "session", "value": "old", **kept}, {"name": "theme", "value": "a=b", **kept}]
    assert given == {"browserContextId": "C", "cookies": cookies}
    assert lent(script, headers={"Cookie": "session=old; session=new; theme=a=b"})["Cookie"] == "session=new; theme=a=b"
    assert Script().opened().count("Storage.setCookies") == 0


def test_a_cookie_that_the_browser_rejects_is_reported() -> None:
    script = Script(headers=(("Cookie", "session=old"),)).opened()
    script.answer("given", failed="Invalid cookie fields")
    assert failure(script) == ("remote", "the browser takes no such cookie: Invalid cookie fields")


def test_given_cookies_are_read_back_at_the_end_and_no_others() -> None:
    script = read_twice(Script(headers=(("cookie", "session=old"),)).opened().loaded())
    assert not script.look.over and script.last("Storage.getCookies").params == {"browserContextId": "C"}
    kept = {"name": "session", "value": "new", "domain": "a.example", "path": "/p", "session": True, "secure": True}
    dated = {"name": "b", "value": "2", "domain": ".example", "path": "/", "session": False, "expires": 86_400.5}
    given = {**kept, "value": "old"}
    others = [given, {**kept, "domain": "b.example"}, {**kept, "domain": "aa.example"}, {**kept, "sourcePort": 8443}]
    script.answer("cookies", cookies=[*others, {**kept, "sourcePort": 443}, dated])
    assert script.look.over and script.look.html == "<p>new</p>"
    assert script.look.set_cookies == (
        "session=new; Path=/p; Secure",
        "b=2; Path=/; Domain=.example; Expires=Fri, 02 Jan 1970 00:00:00 GMT",
    )
    assert read_twice(Script(headers=(("X-Key", "1"),)).opened().loaded()).look.over


@pytest.mark.parametrize("says", ["new", "", None])
def test_a_broken_off_document_fails_and_still_yields_its_cookies(
    says: str | None,
) -> None:
    script = Script(headers=(("cookie", "session=old"),)).opened().loaded()
    script.say("Network.loadingFailed", requestId="d", type="Document", errorText="net::ERR_CONTENT_LENGTH_MISMATCH")
    assert not script.look.over
    if says:
        script.answer("cookies", cookies=[{"name": "session", "value": says, "domain": "a.example", "session": True}])
    elif says is None:
        script.wait(100)
    else:
        script.answer("cookies", "no")
    assert failure(script) == ("remote", "the answer is shorter than it says (ERR_CONTENT_LENGTH_MISMATCH)")
    assert script.look.set_cookies == (("session=new; Path=/",) if says else ())


def test_a_browser_that_returns_no_cookies_still_gives_the_page() -> None:
    for silent in (True, False):
        script = read_twice(Script(headers=(("Cookie", "session=old"),)).opened().loaded())
        if silent:
            script.wait(60)
        else:
            script.answer("cookies", failed="no such context")
        assert script.look.over and script.look.failure is None and script.look.set_cookies == ()
