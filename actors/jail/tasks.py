"""All tasks of a worker. Slow to import, as it imports the parsers."""

from __future__ import annotations

import codecs
import xml.sax.expatreader  # noqa: F401  # the feed library names it in a string
from collections.abc import Callable, Mapping
from contextlib import suppress
from encodings import aliases

import msgspec
import Stemmer  # noqa: F401  # here, because a worker opens no file once it has started

from actors.content.bodies.robots_text import TASKS as ROBOTS
from actors.content.messages import BodyRequest, PageRequest
from actors.content.tasks import TASKS as CONTENT
from actors.extras import always_on
from actors.notification.message_template import TASKS as MESSAGES
from actors.query.explain import TASKS as SEARCH

_OF_EXTRAS = {name: task for extra in always_on() for name, task in extra.tasks().items()}
TASKS: Mapping[str, Callable[[bytes], bytes]] = {**CONTENT, **SEARCH, **ROBOTS, **MESSAGES, **_OF_EXTRAS}

_WITHOUT_ALIAS = (
    "cp1006 cp720 cp737 cp856 cp874 cp875 idna koi8_t koi8_u mac_arabic mac_croatian mac_farsi mac_romanian punycode "
    "raw_unicode_escape unicode_escape utf_8_sig"
)
_URL = "https://sample.example/"
_TEXT = "A sentence of a dozen words or so, which is enough to count as text of a page. "
_FEED = f"<rss version='2.0'><channel><title>å</title><item><title>{_TEXT}</title></item></channel></rss>"
_PAGE = (
    "<!doctype html><html lang='en'><head><title>å</title></head><body><main><h1>One</h1>"
    f"<p>{_TEXT * 3}</p><p>{_TEXT}</p></main></body></html>"
)


def warm() -> None:
    """Load everything that is normally loaded on first use, as a worker opens no files: codecs and the like. Done once
    in the parent of all workers, it also becomes memory that they share.
    """
    for name in (*aliases.aliases.values(), *_WITHOUT_ALIAS.split()):
        with suppress(LookupError):  # some belong to other systems
            codecs.lookup(name)
    encode = msgspec.msgpack.encode
    feed, page = _FEED.encode(), _PAGE.encode()
    TASKS["detect"](encode(BodyRequest(page, "text/html", _URL)))
    TASKS["detect"](encode(BodyRequest(_PAGE.encode("iso-8859-1"), "", _URL)))  # guesses the charset
    TASKS["look_feed"](encode(BodyRequest(feed, "text/xml", _URL)))
    TASKS["look_page"](encode(PageRequest(page, "text/html", _URL)))
