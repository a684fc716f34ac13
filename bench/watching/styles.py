"""Styles of content: a dozen each for lists of links, rows of values, and cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from bench.watching.documents import Entry, Part
from bench.watching.ink import Ink

Style = Callable[[Ink, Part], str]


def _facts(ink: Ink, entry: Entry, tag: str, role: str = "fact") -> str:
    return "".join(ink.text(tag, fact, role) for fact in entry.facts)


def _all(ink: Ink, part: Part, wrap: str, role: str, each: Callable[[Entry], str]) -> str:
    return ink.el(wrap, "".join(each(entry) for entry in part.entries), role)


def ul_links(ink: Ink, part: Part) -> str:
    return _all(ink, part, "ul", "list", lambda e: ink.el("li", ink.link(e.name) + _facts(ink, e, "span"), "item"))


def ul_text(ink: Ink, part: Part) -> str:
    return _all(ink, part, "ul", "list", lambda e: ink.text("li", " – ".join((e.name, *e.facts)), "item"))


def ol_links(ink: Ink, part: Part) -> str:
    return _all(ink, part, "ol", "list", lambda e: ink.el("li", ink.link(e.name) + _facts(ink, e, "small")))


def articles(ink: Ink, part: Part) -> str:
    each = lambda e: ink.el("article", ink.el("h3", ink.link(e.name)) + _facts(ink, e, "p"), "teaser")  # noqa: E731
    return "".join(each(entry) for entry in part.entries)


def div_cards(ink: Ink, part: Part) -> str:
    return _all(
        ink, part, "div", "grid",
        lambda e: ink.el("div", ink.text("div", e.name, "card-title") + _facts(ink, e, "div", "card-text"), "card"),
    )  # fmt: skip


def linked_cards(ink: Ink, part: Part) -> str:
    def card(e: Entry) -> str:
        inner = ink.text("span", e.name, "tile-name") + _facts(ink, e, "span", "tile-fact")
        return f'<a href="/x{len(e.name)}"{ink.named("tile")}>{inner}</a>\n'

    return _all(ink, part, "div", "tiles", card)


def table(ink: Ink, part: Part) -> str:
    head = "".join(ink.text("th", name) for name in part.heads)
    row = lambda e: ink.el("tr", ink.el("td", ink.link(e.name)) + _facts(ink, e, "td", ""))  # noqa: E731
    body = "".join(row(entry) for entry in part.entries)
    return ink.el("table", (f"<thead><tr>{head}</tr></thead>" if head else "") + f"<tbody>{body}</tbody>", "table")


def p_links(ink: Ink, part: Part) -> str:
    return "".join(ink.el("p", ink.link(e.name) + " " + escape(" · ".join(e.facts))) for e in part.entries)


def nested(ink: Ink, part: Part) -> str:
    def item(e: Entry) -> str:
        below = ink.el("ul", _facts(ink, e, "li", "")) if e.facts else ""
        return ink.el("li", ink.text("strong", e.name) + below)

    return _all(ink, part, "ul", "tree", item)


def role_list(ink: Ink, part: Part) -> str:
    each = lambda e: ink.el("div", ink.link(e.name) + _facts(ink, e, "span"), "", 'role="listitem"')  # noqa: E731
    return ink.el("div", "".join(each(e) for e in part.entries), "list", 'role="list"')


def headings(ink: Ink, part: Part) -> str:
    return "".join(ink.text("h4", e.name, "head") + _facts(ink, e, "p", "body") for e in part.entries)


def accordion(ink: Ink, part: Part) -> str:
    return "".join(
        ink.el("details", ink.text("summary", e.name) + _facts(ink, e, "p"), "fold", "open") for e in part.entries
    )


LISTS: Mapping[str, Style] = {
    "ul-links": ul_links,
    "ul-text": ul_text,
    "ol-links": ol_links,
    "articles": articles,
    "div-cards": div_cards,
    "linked-cards": linked_cards,
    "table": table,
    "p-links": p_links,
    "nested": nested,
    "role-list": role_list,
    "headings": headings,
    "accordion": accordion,
}


def th_rows(ink: Ink, part: Part) -> str:
    head = ink.el("tr", "".join(ink.text("th", name, "", 'scope="col"') for name in part.heads)) if part.heads else ""
    row = lambda e: ink.el("tr", ink.text("th", e.name, "", 'scope="row"') + _facts(ink, e, "td", ""))  # noqa: E731
    return ink.el("table", head + "".join(row(e) for e in part.entries), "table")


def td_rows(ink: Ink, part: Part) -> str:
    row = lambda e: ink.el("tr", ink.text("td", e.name) + _facts(ink, e, "td", ""))  # noqa: E731
    return ink.el("table", "".join(row(e) for e in part.entries), "", 'border="0" cellpadding="4"')


def dl(ink: Ink, part: Part) -> str:
    return _all(ink, part, "dl", "facts", lambda e: ink.text("dt", e.name) + _facts(ink, e, "dd", ""))


def colons(ink: Ink, part: Part) -> str:
    return _all(ink, part, "ul", "rows", lambda e: ink.text("li", f"{e.name}: {', '.join(e.facts)}"))


def div_rows(ink: Ink, part: Part) -> str:
    each = lambda e: ink.el("div", ink.text("div", e.name, "name") + _facts(ink, e, "div", "value"), "row")  # noqa: E731
    return _all(ink, part, "div", "rows", each)


def span_rows(ink: Ink, part: Part) -> str:
    each = lambda e: ink.el("div", ink.text("span", e.name, "name") + _facts(ink, e, "span", "value"), "row")  # noqa: E731
    return _all(ink, part, "div", "component-list", each)


def p_rows(ink: Ink, part: Part) -> str:
    return "".join(ink.el("p", f"<b>{escape(e.name)}</b> {escape(', '.join(e.facts))}") for e in part.entries)


def role_rows(ink: Ink, part: Part) -> str:
    def row(e: Entry) -> str:
        cells = "".join(ink.text("span", words, "", 'role="cell"') for words in (e.name, *e.facts))
        return ink.el("div", cells, "", 'role="row"')

    return ink.el("div", "".join(row(e) for e in part.entries), "", 'role="table"')


def h_rows(ink: Ink, part: Part) -> str:
    return "".join(ink.text("h3", e.name, "unit") + ink.text("p", ", ".join(e.facts), "state") for e in part.entries)


def time_rows(ink: Ink, part: Part) -> str:
    return _all(ink, part, "ul", "lines", lambda e: ink.el("li", ink.text("b", e.name) + _facts(ink, e, "i", "v")))


ROWS: Mapping[str, Style] = {
    "th": th_rows,
    "td": td_rows,
    "dl": dl,
    "colons": colons,
    "div": div_rows,
    "span": span_rows,
    "p": p_rows,
    "role": role_rows,
    "h": h_rows,
    "li": time_rows,
}


def _inside(ink: Ink, part: Part, tag: str = "p") -> str:
    lines = "".join(ink.text(tag, line, f"line-{n}") for n, line in enumerate(part.lines))
    items = "".join(ink.text("li", " ".join((e.name, *e.facts))) for e in part.entries)
    return lines + (ink.el("ul", items, "features") if items else "")


def div_card(ink: Ink, part: Part) -> str:
    return ink.el("div", ink.text("h3", part.heading, "plan-name") + _inside(ink, part, "div"), "plan", _id(part))


def section_card(ink: Ink, part: Part) -> str:
    return ink.el("section", ink.text("h2", part.heading) + _inside(ink, part), "plan", _id(part))


def table_card(ink: Ink, part: Part) -> str:
    rows = "".join(ink.el("tr", ink.text("td", line)) for line in part.lines)
    rows += "".join(ink.el("tr", ink.text("td", " ".join((e.name, *e.facts)))) for e in part.entries)
    return ink.el("table", ink.el("tr", ink.text("th", part.heading)) + rows, "box", _id(part))


def li_card(ink: Ink, part: Part) -> str:
    return ink.el("ul", ink.el("li", ink.text("strong", part.heading) + _inside(ink, part, "span")), "tiers", _id(part))


def bold_card(ink: Ink, part: Part) -> str:
    return ink.el("div", ink.el("p", f"<b>{escape(part.heading)}</b>") + _inside(ink, part), "", _id(part))


CARDS: Mapping[str, Style] = {
    "div": div_card,
    "section": section_card,
    "table": table_card,
    "li": li_card,
    "bold": bold_card,
}


def _id(part: Part) -> str:
    return f'id="{part.id}"' if part.id else ""
