"""The sign that made a block furniture: a number in the upper bits of its traits, and its words.

Only for explanations. The decision reads FURNITURE alone, and bits above `STORED` are not stored.
"""

from __future__ import annotations

STORED = 0xFF
"""The stored bits of a trait."""
SIGN = 0xFF00
INSIDE = 0x10000
"""Inside the page's <main>. Only `believed` reads it."""

TAGS = ("nav", "footer", "aside", "dialog", "menu", "header")
ROLES = (
    "navigation", "contentinfo", "complementary", "dialog", "alertdialog", "search", "banner", "menu", "menubar",
    "tooltip", "toolbar", "tablist", "status",
)  # fmt: skip
_WORDS = (
    "cookie", "consent", "gdpr", "cmp", "onetrust", "navigation", "navbar", "nav", "menu", "submenu", "dropdown",
    "megamenu", "footer", "sidebar", "related", "recommend", "promo", "advert", "ad", "sponsor", "newsletter",
    "subscribe", "social", "share", "sharing", "breadcrumb", "ticker", "weather", "wetter", "popup", "modal", "login",
    "signup", "announcement", "topbar", "toolbar", "skip", "most-read", "popular", "trending", "anzeige", "werbung",
    "drawer", "lang", "locale", "paywall",
)  # fmt: skip
ARIA_HIDDEN, BOX, OFFER = "hidden from screen readers", "a box of links that leads elsewhere", "labelled as an offer"
ENCLOSED = "a few links between menus"
_ALL = (
    "",
    *(f"<{tag}>" for tag in TAGS),
    *(f"role={role}" for role in ROLES),
    *(f"named {word!r} by the page" for word in _WORDS),
    ARIA_HIDDEN,
    BOX,
    OFFER,
    ENCLOSED,
)
_CODES = {words: code << 8 for code, words in enumerate(_ALL)}


def by_tag(tag: str) -> int:
    return _CODES[f"<{tag}>"]


def by_role(role: str) -> int:
    return _CODES[f"role={role}"]


def by_name(name: str) -> int:
    """Return the sign of a class or id, by the longest known word it begins with."""
    name = name.strip(" _-\t\n\r\f").lower()
    known = max((word for word in _WORDS if name.startswith(word)), key=len, default="")
    return _CODES.get(f"named {known!r} by the page", 0)


def by_place(words: str) -> int:
    """Return the sign of ARIA_HIDDEN, BOX, OFFER or ENCLOSED."""
    return _CODES[words]


def signed(trait: int, sign: int) -> int:
    """Add a sign to a trait, unless an outer element has set one."""
    return trait if trait & SIGN else trait | sign


def words_of(trait: int) -> str:
    """Return the words for the sign that made a block furniture; "" if unknown."""
    return _ALL[(trait & SIGN) >> 8]
