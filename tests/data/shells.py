"""Pages that are empty without their scripts, and pages that are not: handwritten, and drawn from a seed.

The handwritten ones follow the output of common tools. Each row is (name, whether it is an empty shell, the page).
"""

from __future__ import annotations

import random
from collections.abc import Iterator

Labelled = tuple[str, bool, str]

_SCRIPT = "<script type=module crossorigin src=/assets/index-4f2a.js></script>"
_COUNTER = "<script async src=https://stats.example/c.js></script>"
_WORDS = (
    *("harbour", "ferry", "ticket", "price", "adult", "child", "winter", "timetable", "north", "pier", "opens"),
    *("daily", "evening", "storm", "warning", "tide", "water", "level", "report", "council", "meeting", "bus"),
    *("road", "works", "closed", "detour", "bridge", "museum", "exhibition", "ceramics"),
)


def _page(body: str, head: str = "", title: str = "Harbour") -> str:
    return f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>{head}</head><body>{body}"


def _text(words: int, seed: int = 0) -> str:
    chance = random.Random(f"text/{seed}/{words}")
    found = [chance.choice(_WORDS) for _ in range(words)]
    return "".join(f"<p>{' '.join(found[at : at + 14]).capitalize()}.</p>" for at in range(0, words, 14))


_ASKS = "<noscript>You need to enable JavaScript to run this app.</noscript>"
_TAGS = '<noscript><iframe src="https://tags.example/ns" height=0 width=0></iframe></noscript>'
_NAV = "<header><nav><a href=/>Home</a> <a href=/ferries>Ferries</a> <a href=/about>About us</a></nav></header>"
_FOOT = "<footer><p>Harbour authority, Pier 4. All rights reserved.</p><a href=/imprint>Imprint</a></footer>"

BY_HAND: tuple[Labelled, ...] = (
    ("create-react-app", True, _page(f"{_ASKS}<div id=root></div><script src=/static/js/main.5c.js></script>")),
    ("vite", True, _page("<div id=app></div>", _SCRIPT)),
    ("vue cli", True, _page(
        "<noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled. Please enable it to "
        "continue.</strong></noscript><div id=app></div><script defer src=/js/app.js></script>")),
    ("angular", True, _page("<app-root></app-root><script src=main.js type=module></script>")),
    ("angular with a spinner", True, _page(
        "<app-root><div class=spinner>Loading...</div></app-root><script src=main.js type=module></script>")),
    ("next on the client", True, _page(
        '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{}}</script>'
        "<script src=/_next/static/chunks/main.js></script>")),
    ("nuxt as an app", True, _page(
        '<div id="__nuxt"></div><script>window.__NUXT__={config:{}}</script><script src=/_nuxt/e.js></script>')),
    ("svelte", True, _page("<div id=svelte></div><script type=module src=/build/bundle.js></script>")),
    ("ember", True, _page(
        "<script src=/assets/vendor.js></script><script src=/assets/app.js></script><div id=ember-basic></div>")),
    ("blazor", True, _page("<div id=app>Loading...</div><script src=_framework/blazor.webassembly.js></script>")),
    ("flutter", True, _page("<script src=flutter_bootstrap.js async></script>")),
    ("a frame of menus around nothing", True, _page(f"{_NAV}<main id=root></main>{_FOOT}{_SCRIPT}")),
    ("German, loading", True, _page("<div id=app><p>Wird geladen…</p></div><script src=/a.js></script>")),
    ("French, loading", True, _page("<div id=root>Chargement en cours</div><script src=/a.js></script>", title="Port")),
    ("it says so", True, _page(f"<p>Please enable JavaScript to view this page.</p>{_SCRIPT}")),
    ("AngularJS", True, _page("<div ng-app=shop><ng-view></ng-view></div><script src=angular.js></script>")),
    ("noscript in Spanish", True, _page(
        "<noscript>Necesitas activar JavaScript.</noscript><div class=wrap></div><script src=/a.js></script>")),
    ("a short page", False, _page("<h1>Closed today</h1><p>The office opens on Monday at nine.</p>")),
    ("a short page with a counter", False, _page(f"<h1>Closed today</h1><p>It opens on Monday.</p>{_COUNTER}")),
    ("a short page with tags", False, _page(f"<h1>Tide</h1><p>2.41 m at noon.</p>{_TAGS}{_COUNTER}")),
    ("made on the server, next", False, _page(
        f'<div id="__next">{_NAV}<main>{_text(120)}</main></div><script src=/_next/main.js></script>')),
    ("made on the server, short", False, _page(
        "<div id=app data-server-rendered=true><h1>Tide</h1><p>2.41 m at noon, falling.</p></div><script src=/a.js>"
        "</script>")),
    ("one price in a root", False, _page(f"{_ASKS}<div id=root><p>Day ticket</p><b>14 EUR</b></div>{_SCRIPT}")),
    ("an article, an empty root", False, _page(f"<article>{_text(200)}</article><div id=app></div>{_SCRIPT}")),
    ("an article that asks for JavaScript", False, _page(f"<article>{_text(90)}</article>{_ASKS}{_SCRIPT}")),
    ("an article about JavaScript", False, _page(
        f"<article><h1>How to enable JavaScript</h1>{_text(160)}</article>{_COUNTER}")),
    ("a challenge", False, _page(
        "<h1>Just a moment...</h1><noscript>Enable JavaScript and cookies to continue</noscript><div id=root></div>"
        "<script src=/cdn-cgi/challenge.js></script>", title="Just a moment...")),
    ("a login", False, _page(
        f"<form><input name=u><input type=password name=p><button>Sign in</button></form>{_COUNTER}", title="Sign in")),
    ("an error", False, _page(f"<h1>404</h1><p>Page not found</p><div id=root></div>{_SCRIPT}", title="404")),
    ("a table of figures", False, _page(
        "<table>" + "".join(f"<tr><td>{hour}<td>2.{hour} m</tr>" for hour in range(9)) + f"</table>{_COUNTER}")),
    ("a list of links", False, _page(
        "<ul>" + "".join(f"<li><a href=/{n}>Minutes of meeting {n}</a></li>" for n in range(12)) + f"</ul>{_COUNTER}")),
    ("a search form in its app", False, _page(
        f"<div id=app><form><label>Stop <input name=q></label><button>Find</button></form></div>{_SCRIPT}")),
    ("no scripts at all", False, _page("<div id=root></div>")),
    ("data only", False, _page('<p>Tide tables</p><script type="application/ld+json">{"@type":"WebPage"}</script>')),
    ("a refresh", False, "<html><head><meta http-equiv=refresh content='0;url=/start'></head><body></body></html>"),
)  # fmt: skip

_MOUNTS = ("<div id={0}></div>", "<main id={0}></main>", "<div id={0}><p>{1}</p></div>", "<section id={0}> </section>")
_IDS = ("root", "app", "__next", "__nuxt", "react-root", "main-app", "svelte", "application")
_LOADING = ("Loading...", "Loading", "Please wait", "Wird geladen", "Chargement", "Cargando", "Laddar", "Laden...")


def drawn(count: int, seed: int) -> Iterator[Labelled]:
    """Yield pages drawn from a seed; every second one is a shell."""
    chance = random.Random(f"shells/{seed}")
    for number in range(count):
        nav, foot = chance.choice(("", _NAV)), chance.choice(("", _FOOT))
        head = chance.choice(("", _COUNTER, "<style>body{margin:0}</style>"))
        scripts = _SCRIPT + chance.choice(("", _COUNTER, "<script>window.__STATE__={user:null,items:[1,2,3]}</script>"))
        asks = chance.choice(("", _ASKS, _TAGS))
        own = chance.choice(_IDS)
        if number % 2:
            mount = chance.choice(_MOUNTS).format(own, chance.choice(_LOADING))
            yield f"shell {seed}/{number}", True, _page(f"{asks}{nav}{mount}{foot}{scripts}", head)
        else:
            text = _text(chance.choice((8, 20, 45, 90, 200)), number)
            wrapped = chance.choice((text, f"<main>{text}</main>", f"<div id={own}>{nav}{text}</div>"))
            aside = chance.choice(("", "", "<div id=modal-root></div>", "<cookie-banner></cookie-banner>"))
            yield f"page {seed}/{number}", False, _page(f"{nav}{wrapped}{aside}{asks}{foot}{scripts}", head)
