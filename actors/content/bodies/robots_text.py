"""The group of a robots.txt that applies to us (RFC 9309, 2.2), cut out in linear time, and its verdict on URLs. Pure.

protego stores the rules of every group once per agent: 370 KB with 2,000 agents and 20,000 rules block it for minutes.
So this module selects the group, and protego sees one group with one agent. All rules count, and the worst 500 KiB
still cost protego most of a second, so a worker reads long files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec import Struct
from protego import Protego

_AGENT_FIELDS = frozenset({"user-agent", "useragent", "user agent"})
_RULE_FIELDS = frozenset({"allow", "disallow", "crawl-delay", "crawl delay"})
_TOKEN = re.compile(r"[a-z_-]+|\*")


def reduce_to(token: str, text: str) -> str:
    """Return one group for a product token: its own groups merged, else those for `*`; "" if neither exists.

    >>> reduce_to("bird", "User-agent: fish\\nDisallow: /a\\nUser-agent: *\\nDisallow: /b # nest\\n")
    'user-agent: bird\\ndisallow: /b'
    """
    rules: dict[str, list[str]] = {}
    agents: set[str] = set()
    in_rules = False
    for field, value in _lines(text):
        if field in _AGENT_FIELDS:
            agents = set() if in_rules else agents
            in_rules = False
            found = _TOKEN.match(value.lower())
            if found is not None and found[0] in (token, "*"):
                agents.add(found[0])
                rules.setdefault(found[0], [])
        elif field in _RULE_FIELDS:
            in_rules = True
            for agent in agents:
                rules[agent].append(f"{field}: {value}")
    ours = rules.get(token, rules.get("*"))
    return "\n".join((f"user-agent: {token}", *ours)) if ours else ""


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():  # same line breaks as protego
        field, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield field.strip().lower(), value.strip()


class RobotsRequest(Struct, frozen=True):
    """A robots.txt, raw or already reduced, and a URL to judge; answered by a RobotsReading."""

    body: bytes
    token: str
    url: str


class RobotsReading(Struct, frozen=True):
    """text: the group for us. allowed: whether the URL may be fetched. delay: Crawl-delay in seconds."""

    text: str
    allowed: bool
    delay: float | None


def read_robots(asked: RobotsRequest) -> RobotsReading:
    text = reduce_to(asked.token, asked.body.decode("utf-8-sig", errors="replace"))
    if not text:
        return RobotsReading("", True, None)
    rules = Protego.parse(text)
    return RobotsReading(text, rules.can_fetch(asked.url, asked.token), rules.crawl_delay(asked.token))


_decode = msgspec.msgpack.Decoder(RobotsRequest).decode
TASKS: Mapping[str, Callable[[bytes], bytes]] = {
    "read_robots": lambda request: msgspec.msgpack.encode(read_robots(_decode(request)))
}
