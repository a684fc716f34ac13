"""Lists of items with their own pages, some of them on another host."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from tests.simulation.origins.texts import published, saying, title
from tests.simulation.program import OriginPlan
from tests.simulation.serving import Answer, Request

_HTML = {"content-type": "text/html; charset=utf-8"}
_ELSEWHERE = 3
"""Each third item has its page on the other host."""


@dataclass(slots=True)
class ListPage:
    """A list that shows its newest items by their titles."""

    plan: OriginPlan
    versioned: bool = False

    def answer(self, request: Request) -> Answer:
        """Answer with the list as it is now."""
        out = len(published(self.plan.texts))
        shown = range(out - 1, max(-1, out - 1 - self.plan.window), -1)
        rows = "".join(
            f'<li><h2><a href="{item_url(self.plan, n)}">All that is known of {title(self.plan, n)}</a></h2></li>'
            for n in shown
        )
        return _page("News of the harbour", f"<h1>News</h1><ul>{rows}</ul>")


@dataclass(slots=True)
class ItemPage:
    """The page of an item, the only place of its text."""

    plan: OriginPlan
    number: int
    versioned: bool = False

    @property
    def path(self) -> str:
        """Its path on its host."""
        return f"/{item_url(self.plan, self.number).split('/', 3)[3]}"

    def answer(self, request: Request) -> Answer:
        text = escape(item_text(self.plan, self.number))
        return _page(title(self.plan, self.number), f"<h1>{title(self.plan, self.number)}</h1><p>{text}</p>")


def item_url(plan: OriginPlan, number: int) -> str:
    scheme = "https" if plan.secure else "http"
    host = plan.other if plan.other and number % _ELSEWHERE == 0 else plan.host
    return f"{scheme}://{host}/items/{number}"


def item_text(plan: OriginPlan, number: int) -> str:
    """Return the text that only the page of an item has."""
    return saying(plan, number, plan.texts[number].words)


def _page(name: str, main: str) -> Answer:
    menu = "<nav><a href=/>Home</a> <a href=/about>About</a></nav>"
    body = f"<!doctype html><html><head><title>{name}</title></head><body>{menu}<main>{main}</main></body></html>"
    return Answer(200, body.encode(), _HTML)
