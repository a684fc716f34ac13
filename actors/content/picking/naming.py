"""The durability of element names: ids and classes from people, from build tools, or from states.

A descriptive name ("price", "opening-hours") outlives a place. Generated names (`css-1x2y3z`, `Button_root__3xYz1`,
`post-48213`) change with the next build or belong to one entry; names of states (`is-open`, `active`) come and go;
names of styles (`col-6`, `text-center`, `mt-4`) say nothing about content.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

NEVER: Final = 100.0
"""The cost of a name that must not be used."""
_LONGEST = 60
_PLAIN: Final = re.compile(r"-?[A-Za-z_\u0080-\uffff][\w-]*", re.A | re.I)
_MADE: Final = re.compile(
    r"^(?:css|sc|jss|svelte|astro|data-v|_ngcontent|ng|emotion|ember|ext-gen|yui|gwt|radix|headlessui|styled)[-_]?\w*\d"
    r"|^(?:css|sc|jss|svelte|astro|emotion|ext-gen|gwt|headlessui)-"
    r"|\d{3}|(?=[a-f]*\d)[0-9a-f]{8}",
    re.I,
)
_STATE: Final = re.compile(
    r"(?:^|[-_])(?:active|open(?:ed)?|closed?|selected|current|disabled|enabled|hidden|visible|shown?|expanded|collapsed?"
    r"|loaded|loading|lazy\w*|hover|focus|first|last|odd|even|new|visited|sticky|fixed|animated?|fade|in|js|no-js|dark|light)"
    r"(?:$|[-_])|^(?:is|has|was)[-_]",
    re.I,
)
_LOOK: Final = re.compile(
    r"^(?:(?:col|row|span|offset|order|grid|flex|block|inline|container|wrap(?:per)?|clearfix|float|pull|push|align|justify"
    r"|items|self|text|font|bg|border|rounded|shadow|[mp][trblxy]?|w|h|min|max|gap|space|top|left|right|bottom|z|d|u|g|o|c|l"
    r"|sm|md|lg|xl|xs|small|large|medium|medium|full|half|inner|outer|left|right|center|clear|box|hide|show|size|leading"
    r"|tracking|absolute|relative|overflow|cursor|transition|opacity|btn|button|icon|link|item|list)(?:$|[-_].*))$",
    re.I,
)
_CAMEL: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_VOWEL: Final = re.compile(r"[aeiouyåäöüéèáàóíæø]", re.I)
_SHORTEST_WORD = 3.0


@lru_cache(maxsize=8192)
def cost_of(name: str) -> float:
    """Return the cost of trusting a name, from 0; NEVER for an invalid CSS name, or one that will not last.

    >>> cost_of("price"), cost_of("col-md-6"), cost_of("css-1x2y3z"), cost_of("is-open"), cost_of("post-48213")
    (0.0, 3.0, 100.0, 100.0, 100.0)
    """
    if not 1 < len(name) <= _LONGEST or not _PLAIN.fullmatch(name) or _MADE.search(name) or _STATE.search(name):
        return NEVER
    if _is_drawn(name):
        return NEVER
    return 3.0 if _LOOK.match(name) else 1.0 if any(sign.isdigit() for sign in name) else 0.0


def _is_drawn(name: str) -> bool:
    """Whether a name looks like random letters: VfPpkd, a3Xk9q.

    >>> [_is_drawn(name) for name in ("VfPpkd", "a3Xk9q", "priceBox", "h2-title", "opening_hours")]
    [True, True, False, False, False]
    """
    return any(_is_drawn_word(word) for word in re.split(r"[-_]+", name) if word)


def _is_drawn_word(word: str) -> bool:
    if not word.isascii() or len(word) < 5:
        return False
    parts = _CAMEL.findall(word)
    letters = [part for part in parts if part.isalpha()]
    mixed = any(part.isdigit() for part in parts[:-1]) and len(parts) > 2
    if mixed or not _VOWEL.search(word):
        return True
    return len(letters) > 1 and sum(map(len, letters)) / len(letters) < _SHORTEST_WORD
