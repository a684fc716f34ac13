"""The surroundings of the content: twenty ways to build a page.

A shell gets an Inside, the content as markup and the site's words, and places the pieces where sites do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from bench.watching.documents import Doc, Piece, Where
from bench.watching.ink import Ink
from bench.watching.tongues import Tongue

_SCRIPTS = """<script>window.dataLayer=window.dataLayer||[];</script>
<noscript><iframe src="/t.html" height="0" width="0" style="display:none"></iframe></noscript>
<svg style="display:none"><symbol id="i"><title>i</title></symbol></svg>
"""
_META = (
    '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/m.css"><style>p{margin:0}</style>'
)
_LANGUAGES = ("English", "Deutsch", "Français", "Español", "日本語", "العربية")
_HOMES = ("Mastodon", "LinkedIn", "YouTube", "RSS")


class Inside(NamedTuple):
    """A page to wrap. filler: stable names that make a page long, at the frame's place for them. dressed: with typical
    extras: scripts, a second menu for small screens, a search form, languages, social links.
    """

    doc: Doc
    tongue: Tongue
    ink: Ink
    content: str
    filler: Sequence[str]
    dressed: bool = False

    def pieces(self, *places: Where) -> str:
        return "".join(_piece(self.ink, piece) for place in places for piece in self.doc.at(place))

    def top(self) -> str:
        return (_SCRIPTS if self.dressed else "") + self.pieces("hidden", "banner")

    def links(self, role: str = "") -> str:
        return self.ink.links(self.filler, role)

    def head(self) -> str:
        doc, right = self.doc, ' dir="rtl"' if self.doc.lang == "ar" else ""
        return (
            f'<!DOCTYPE html>\n<html lang="{doc.lang}"{right}>\n<head><meta charset="utf-8">'
            f"<title>{escape(doc.title)}</title>{_META if self.dressed else ''}{doc.extra}</head>\n"
        )

    def nav(self, tag: str = "ul") -> str:
        names = (*self.tongue.nav, *(text for piece in self.doc.at("menu") for text in piece.texts))
        menu = self.ink.links(names, "menu", tag)
        if not self.dressed:
            return menu
        small = (
            f'<button aria-expanded="false"><span>☰</span></button>{self.ink.links(self.tongue.nav, "menu-mobile")}'
        )
        form = '<form role="search" action="/s"><input type="search" name="q"><button type="submit">🔍</button></form>'
        return f"{menu}{form}{small}"

    def foot(self, tag: str = "p") -> str:
        right = self.ink.text(tag, f"© {self.doc.year} {self.tongue.foot}", "copyright") + self.pieces("foot")
        return (
            self.ink.links(_LANGUAGES, "languages") + self.ink.links(_HOMES, "social") + right
            if self.dressed
            else right
        )


def _piece(ink: Ink, piece: Piece) -> str:
    if piece.where == "hidden":
        inner = "".join(ink.text("span", text) for text in piece.texts)
        return ink.el(piece.tag or "div", inner, piece.role, 'hidden aria-hidden="true" style="display:none"')
    inner = "".join(ink.text("p", text) for text in piece.texts)
    if piece.tag in ("p", "span", "small", "time"):
        return "".join(ink.text(piece.tag, text, piece.role) for text in piece.texts)
    more = f'id="{piece.role}"' if ink.naming == "ids" else ""
    return ink.el(piece.tag or "div", inner, piece.role, more)


def semantic(i: Inside) -> str:
    nav = f"<header>{i.ink.link(i.tongue.site, 'logo')}<nav>{i.nav()}</nav></header>\n"
    side = f"<aside>{i.pieces('aside')}{i.links()}</aside>\n" if i.filler or i.doc.at("aside") else ""
    body = f"{i.top()}{nav}<main>{i.content}{i.pieces('after')}</main>\n{side}"
    return f"{i.head()}<body>{body}<footer>{i.foot()}</footer></body></html>"


def div_soup(i: Inside) -> str:
    top = f'<div id="top"><div id="logo">{escape(i.tongue.site)}</div><div id="menu">{i.nav()}</div></div>\n'
    mid = f'<div id="content">{i.content}{i.pieces("after")}</div><div id="right">{i.pieces("aside")}</div>'
    low = f'<div id="bottom">{i.ink.links(i.filler, "links")}{i.foot("div")}</div>'
    return f'{i.head()}<body><div id="wrap">{i.top()}{top}{mid}{low}</div></body></html>'


def blog_theme(i: Inside) -> str:
    head = f'<header id="masthead" class="site-header"><p class="site-title">{escape(i.tongue.site)}</p>'
    menu = f'<nav id="site-navigation" class="main-navigation">{i.nav()}</nav></header>'
    main = '<div id="primary" class="content-area"><main id="main"><article class="page type-page hentry">'
    widgets = f'<aside id="secondary" class="widget-area"><section class="widget">{i.pieces("aside")}</section>'
    widgets += f'<section class="widget widget_categories">{i.links()}</section></aside>'
    foot = f'<footer id="colophon" class="site-footer"><div class="site-info">{i.foot("span")}</div></footer>'
    return (
        f'{i.head()}<body class="page-template-default page"><div id="page" class="site">'
        f'{i.top()}{head}{menu}{main}<div class="entry-content">{i.content}</div></article>'
        f"{i.pieces('after')}</main></div>{widgets}{foot}</div></body></html>"
    )


def manual(i: Inside) -> str:
    tree = f'<nav class="sidebar" aria-label="docs">{i.nav()}{i.ink.links(i.filler, "toctree")}</nav>'
    toc = f'<div class="on-this-page">{i.pieces("aside")}</div>'
    low = f'<div class="prev-next">{i.ink.link(i.tongue.nav[0])} {i.ink.link(i.tongue.nav[1])}</div>'
    return (
        f'{i.head()}<body class="docs">{i.top()}<div class="layout">{tree}<main role="main">'
        f'<div class="document" itemprop="articleBody">{i.content}</div>{i.pieces("after")}{low}</main>{toc}</div>'
        f"<footer>{i.foot()}</footer></body></html>"
    )


def authority(i: Inside) -> str:
    crumbs = f'<div class="breadcrumbs"><ol>{"".join(f"<li>{i.ink.link(n)}</li>" for n in i.tongue.nav[:2])}</ol></div>'
    head = f'<header role="banner"><div class="header-logo">{escape(i.tongue.site)}</div></header>{crumbs}'
    side = f'<aside class="related-links" role="complementary">{i.pieces("aside")}{i.links()}</aside>'
    main = f'<div class="grid-row"><div class="column-two-thirds">{i.content}</div>{side}</div>'
    foot = f'<footer role="contentinfo">{i.nav()}{i.foot()}</footer>'
    skip = f'<a class="skip-link" href="#content">{escape(i.tongue.skip)}</a>'
    return (
        f'{i.head()}<body>{skip}{i.top()}{head}<main id="content" class="main-wrapper">{main}</main>'
        f"{i.pieces('after')}{foot}</body></html>"
    )


def store(i: Inside) -> str:
    top = f'<div class="topbar">{escape(i.tongue.site)}</div><nav class="mega-menu">{i.nav()}{i.links()}</nav>'
    low = f'<div class="recommendations">{i.pieces("aside")}</div>'
    return (
        f'{i.head()}<body class="template-product">{i.top()}{top}<main class="product-main">'
        f"{i.content}{i.pieces('after')}</main>{low}"
        f'<footer class="footer">{i.ink.links(i.tongue.nav, "footer-links")}{i.foot()}</footer></body></html>'
    )


def status_host(i: Inside) -> str:
    head = f'<div class="masthead-container basic"><div class="masthead">{i.ink.link(i.tongue.site)}</div></div>'
    low = f'<div class="page-footer">{i.nav()}{i.foot("span")}</div>'
    return (
        f'{i.head()}<body class="status index"><div class="layout-content">{i.top()}{head}'
        f'<div class="container">{i.content}{i.pieces("after", "aside")}{i.links()}</div>{low}</div></body></html>'
    )


def prerendered(i: Inside) -> str:
    state = '<script id="__STATE__" type="application/json">{"props":{"ready":true}}</script>'
    head = i.ink.el("div", i.ink.el("div", i.nav("div"), "nav-inner"), "nav")
    body = i.ink.el("div", i.ink.el("div", i.content + i.pieces("after"), "view"), "outlet")
    side = i.ink.el("div", i.pieces("aside") + i.ink.links(i.filler, "rail", "div"), "rail")
    low = i.ink.el("div", i.foot("div"), "bottom")
    return f'{i.head()}<body><div id="root">{i.top()}{head}{body}{side}{low}</div>{state}</body></html>'


def fragment(i: Inside) -> str:
    return f"{i.pieces('banner', 'hidden')}{i.content}{i.pieces('after', 'aside', 'foot')}{i.links()}"


def unnamed(i: Inside) -> str:
    menu = " | ".join(i.ink.link(name) for name in i.tongue.nav)
    more = "".join(f"<p>{escape(text)}</p>" for piece in i.doc.at("menu") for text in piece.texts)
    return (
        f"{i.head()}<body>{i.top()}<p>{menu}</p>{more}<hr>{i.content}{i.pieces('after', 'aside')}<hr>"
        f"{i.links()}{i.foot()}</body></html>"
    )


def roles(i: Inside) -> str:
    return (
        f'{i.head()}<body>{i.top()}<div role="banner">{escape(i.tongue.site)}</div>'
        f'<div role="navigation">{i.nav()}</div><div role="main">{i.content}{i.pieces("after")}</div>'
        f'<div role="complementary">{i.pieces("aside")}{i.links()}</div>'
        f'<div role="contentinfo">{i.foot()}</div></body></html>'
    )


def old_table(i: Inside) -> str:
    menu = "<BR>".join(i.ink.link(name) for name in (*i.tongue.nav, *i.filler))
    extra = "".join(f"<BR>{escape(text)}" for piece in i.doc.at("menu") for text in piece.texts)
    return (
        f"{i.head()}<BODY BGCOLOR=white>{i.top()}<TABLE WIDTH=760><TR><TD VALIGN=top WIDTH=160>"
        f"<FONT SIZE=2>{menu}{extra}</FONT></TD><TD VALIGN=top>{i.content}{i.pieces('after')}</TD></TR></TABLE>"
        f"<CENTER>{i.pieces('aside')}{i.foot()}</CENTER></BODY></HTML>"
    )


def landing(i: Inside) -> str:
    top = i.ink.el("div", i.ink.text("span", i.tongue.site, "brand") + i.nav(), "navbar")
    low = i.ink.el("div", i.ink.links(i.filler, "columns") + i.foot(), "footer-dark")
    inner = i.ink.el("section", i.content, "band") + i.ink.el("section", i.pieces("after", "aside"), "band-two")
    return f"{i.head()}<body>{i.top()}{top}{inner}{low}</body></html>"


def sheet(i: Inside) -> str:
    return (
        f"{i.head()}<body><article>{i.pieces('banner', 'hidden')}{i.content}</article>"
        f"<aside>{i.pieces('aside', 'after')}</aside>{i.links()}<footer>{i.foot()}</footer></body></html>"
    )


def side_first(i: Inside) -> str:
    side = i.ink.el("div", i.nav() + i.pieces("aside") + i.links(), "sidebar")
    return (
        f"{i.head()}<body>{i.top()}{side}{i.ink.el('div', i.content + i.pieces('after'), 'main')}"
        f"{i.ink.el('div', i.foot(), 'footer')}</body></html>"
    )


def front(i: Inside) -> str:
    half = len(i.filler) // 2
    above = i.ink.el("section", i.ink.links(i.filler[:half]), "strip")
    below = i.ink.el("section", i.ink.links(i.filler[half:]), "strip")
    return (
        f"{i.head()}<body><header>{escape(i.tongue.site)}{i.nav()}</header>{i.top()}{above}"
        f"<section>{i.content}</section>{i.pieces('after', 'aside')}{below}<footer>{i.foot()}</footer></body></html>"
    )


def elements(i: Inside) -> str:
    return (
        f"{i.head()}<body><app-shell>{i.top()}<site-header><site-nav>{i.nav()}</site-nav></site-header>"
        f"<page-body>{i.content}<page-extra>{i.pieces('after', 'aside')}{i.links()}</page-extra></page-body>"
        f"<site-footer>{i.foot()}</site-footer></app-shell></body></html>"
    )


def portal(i: Inside) -> str:
    tabs = i.ink.el("ul", "".join(i.ink.el("li", i.ink.link(n), "tab") for n in i.tongue.nav), "tabs")
    box = i.ink.el("div", i.ink.el("div", i.content, "portlet-content"), "portlet-main")
    more = i.ink.el("div", i.pieces("aside", "after") + i.links(), "portlet-links")
    menu = "".join(i.ink.text("span", text) for piece in i.doc.at("menu") for text in piece.texts)
    return f"{i.head()}<body>{i.top()}{tabs}{menu}<form action='#'>{box}</form>{more}{i.foot()}</body></html>"


def municipality(i: Inside) -> str:
    crumbs = " › ".join(i.ink.link(name) for name in i.tongue.nav[:3])
    quick = i.ink.el("nav", i.links("quick"), "quick")
    return (
        f'{i.head()}<body><div class="page-header">{i.ink.link(i.tongue.site)}{i.nav()}</div>{i.top()}'
        f'<div class="page-path">{crumbs}</div><div class="page-content">{i.content}</div>{i.pieces("after")}'
        f'<div class="page-side">{i.pieces("aside")}{quick}</div>'
        f'<div class="page-bottom">{i.foot()}</div></body></html>'
    )


def mobile(i: Inside) -> str:
    menu = f'<amp-sidebar id="drawer" layout="nodisplay">{i.nav()}{i.links()}</amp-sidebar>'
    return (
        f"{i.head()}<body>{menu}{i.top()}<div>{i.content}</div>"
        f"<div>{i.pieces('after', 'aside')}</div><div>{i.foot()}</div></body></html>"
    )


SHELLS: Mapping[str, Callable[[Inside], str]] = {
    shell.__name__: shell
    for shell in (
        semantic, div_soup, blog_theme, manual, authority, store, status_host, prerendered, fragment, unnamed, roles,
        old_table, landing, sheet, side_first, front, elements, portal, municipality, mobile,
    )
}  # fmt: skip
