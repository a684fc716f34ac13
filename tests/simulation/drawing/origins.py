"""Realistic sources: feeds with an archive, pages full of churn, moved addresses, several on one machine."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from tests.simulation.chances import chance
from tests.simulation.drawing.moments import moments
from tests.simulation.program import (
    ALERT_WORD,
    CALM,
    DAY,
    AlertPlan,
    Charset,
    Churn,
    Manners,
    OriginPlan,
    RobotsPlan,
    Style,
    Text,
    Tier,
)

_TIERS: tuple[Tier, ...] = ("feed", "html", "push", "feed", "feed", "html", "feed", "feed", "html", "feed")
_STYLES: dict[Tier, tuple[Style, ...]] = {
    "feed": ("rss", "atom", "json"),
    "html": ("plain", "busy"),
    "push": ("frames",),
}
_PER_DAY = {"feed": (0.5, 12.0), "html": (0.5, 4.0), "push": (10.0, 60.0)}
_PATHS = {"feed": "/feed", "html": "/", "push": "/tide"}
_PAGE_CHURN: tuple[Churn, ...] = ("clock", "counter", "promos", "flap", "shuffle", "token")
_FEED_CHURN: tuple[Churn, ...] = ("stamp", "shuffle", "redate")
_WRONG_TYPES = ("", "", "text/html", "text/plain", "application/octet-stream")
_FLOOD = 120
_ARCHIVE_DAYS = 30
_SETTLED = 11 * 3600.0
"""An entry dated this shortly before a reset is reported again, for its new identity and date."""

WORDS = [
    "amber",
    "anchor",
    "basin",
    "beacon",
    "canyon",
    "cedar",
    "cinder",
    "copper",
    "delta",
    "ember",
    "fathom",
    "glacier",
    "granite",
    "harbor",
    "island",
    "jetty",
    "kelp",
    "lagoon",
    "marble",
    "meadow",
    "north",
    "orchard",
    "pebble",
    "quarry",
    "reef",
    "saddle",
    "shingle",
    "timber",
    "upland",
    "valley",
    "willow",
    "yarrow",
    "älven",
    "måne",
    "façade",
    "señal",
    "über",
]


def origins(seed: str, sources: int, ends: float) -> tuple[OriginPlan, ...]:
    """Draw all sources. Some share a machine with an earlier one, by its own name or by its twin."""
    drawn: list[OriginPlan] = []
    for number in range(sources):
        plan = _origin(chance(seed, f"origin/{number}"), number, ends)
        if not _is_quiet(number):
            plan = _housed(chance(seed, f"origin/{number}/house"), number, plan, drawn)
        drawn.append(plan)
    return tuple(drawn)


def batch(dice: random.Random, plan: OriginPlan, ends: float) -> tuple[Text, ...]:
    """Replace a feed that never moves with entries of one date, late in the program; not every feed."""
    at = float(round(ends - CALM - dice.uniform(0, CALM)))
    before = tuple(text for text in plan.texts if text.at < at - 1 and text.away[1] in {math.inf, *_past(text, at)})
    if dice.random() < 0.2 or plan.manners.resets_at < math.inf:
        return plan.texts
    whole = tuple(replace(text, revised_at=math.inf, revision=()) if text.revised_at > at else text for text in before)
    return (*whole, *(Text(at, _words(dice)) for _ in range(plan.window)))


def _past(text: Text, at: float) -> tuple[float, ...]:
    return (text.away[1],) if text.away[1] < at else ()


def steady(dice: random.Random, texts: Sequence[Text], alert: AlertPlan) -> tuple[Text, ...]:
    """Add two frames a second around the moment when an alert is made, each with its word."""
    begins = int(alert.at) - 10
    more = [Text(begins + n / 2, (*_words(dice), alert.word)) for n in range(60)]
    return tuple(sorted([*texts, *more], key=lambda text: text.at))


def chatty(
    dice: random.Random, plan: OriginPlan, ends: float, every: float = 20.0, entries: float = 600.0
) -> OriginPlan:
    """Give a push source a matching text every `every` seconds, and a feed new entries every `entries` seconds."""
    if plan.tier == "push":
        ats = (int(at) + dice.choice((0.0, 0.0, 0.5)) for at in moments(dice, DAY / every, CALM, ends - 60))
        more = [Text(at, (*_words(dice), ALERT_WORD)) for at in ats]
        return replace(plan, texts=tuple(sorted([*plan.texts, *more], key=lambda text: text.at)))
    if plan.tier == "feed":
        known = tuple(text for text in plan.texts if text.at < 0)
        return replace(
            plan, texts=(*known, *_texts(dice, DAY / entries, ends)), manners=replace(plan.manners, resets_at=math.inf)
        )
    return plan


def flooded(dice: random.Random, plan: OriginPlan, ends: float) -> OriginPlan:
    """Add a burst of matching frames within a second to a push source."""
    begins = round(dice.uniform(1.5 * CALM, ends - CALM / 4)) + 0.5
    burst = [Text(begins + n / _FLOOD, (*_words(dice), ALERT_WORD)) for n in range(_FLOOD // 2)]
    return replace(plan, texts=tuple(sorted([*plan.texts, *burst], key=lambda text: text.at)))


def together(plans: Sequence[OriginPlan]) -> tuple[OriginPlan, ...]:
    """Put all polled sources on one machine, each at its own address."""
    house = next(plan.machine for plan in plans if plan.tier != "push")
    return tuple(
        plan if plan.tier == "push" else replace(plan, host=house, path=f"/{plan.tier}{number}", via=())
        for number, plan in enumerate(plans)
    )


def robots(seed: str, machines: Sequence[str]) -> tuple[tuple[str, RobotsPlan], ...]:
    """Draw the robots.txt of each machine."""
    return tuple((machine, _robots(chance(seed, f"robots/{machine}"))) for machine in machines)


def _robots(dice: random.Random) -> RobotsPlan:
    if dice.random() < 0.4:
        return RobotsPlan()
    delay = dice.choice((0.0, 0.0, 5.0, 20.0))
    rule = f"Crawl-delay: {delay:g}\n" if delay else ""
    text = f"# of this house\nUser-agent: *\n{rule}Disallow: /private\n"
    return RobotsPlan(text, delay, dice.choice((0, 600, 1800)))


def _is_quiet(number: int) -> bool:
    return number % 10 == 9


def a_page(dice: random.Random, number: int, ends: float, per_day: float = 48.0) -> OriginPlan:
    """Draw a page that consists of its blocks and changes this often, on average."""
    texts = tuple(Text(at, _words(dice)) for at in moments(dice, per_day, CALM, ends - CALM / 2))
    return OriginPlan(
        host=f"page{number}.shore.org",
        tier="html",
        style="plain",
        validators="both",
        window=dice.randint(6, 12),
        secure=dice.random() < 0.5,
        added_at=dice.uniform(5.0, CALM / 2),
        texts=texts,
        path="/notices",
    )


def members(seed: str, ends: float) -> tuple[OriginPlan, ...]:
    """Draw a list with sessions, a page with sessions, one with sessions and browser pictures, one with picked parts,
    and a WebSocket with sessions.
    """
    plans = [a_page(chance(seed, f"members/{n}"), n, ends, 240.0) for n in range(4)]
    bursts = [
        Text(float(round(at)) + 40 * n, _words(dice))
        for dice in (chance(seed, "members/items"),)
        for at in moments(dice, 72.0, CALM, ends - CALM)
        for n in range(dice.randint(1, 5))
    ]
    known = tuple(Text(-60.0 * (20 - n), _words(chance(seed, f"members/known/{n}"))) for n in range(20))
    later = sorted({text.at: text for text in bursts}.values(), key=lambda text: text.at)
    news, club, shown, board = plans
    return (
        replace(
            news,
            host="news.shore.org",
            style="list",
            path="/news",
            window=20,
            validators="none",
            texts=(*known, *later),
            session=True,
            other="away.shore.org",
        ),
        replace(club, host="club.shore.org", session=True),
        replace(shown, host="shown.shore.org", render="always", shell=bool(shown.texts), pictures=True, session=True),
        replace(board, host="board.shore.org", window=3),
        _live(chance(seed, "members/live"), ends),
    )


def _live(dice: random.Random, ends: float) -> OriginPlan:
    return OriginPlan(
        host="live.shore.org",
        tier="push",
        style="frames",
        validators="none",
        window=20,
        secure=dice.random() < 0.5,
        added_at=dice.uniform(5.0, CALM / 2),
        texts=_texts(dice, 24.0, ends),
        path=_PATHS["push"],
        session=True,
    )


def _origin(dice: random.Random, number: int, ends: float) -> OriginPlan:
    tier = _TIERS[number % len(_TIERS)]
    plan = OriginPlan(
        host=f"{tier}{number}.shore.org",
        tier=tier,
        style=dice.choice(_STYLES[tier]),
        validators=dice.choice(("etag", "modified", "both", "both", "none")),
        window=dice.randint(6, 12) if tier == "html" else dice.randint(14, 30),
        secure=dice.random() < 0.5,
        added_at=dice.uniform(5.0, CALM / 2),
        texts=() if _is_quiet(number) else _texts(dice, dice.uniform(*_PER_DAY[tier]), ends),
        path=_PATHS[tier],
    )
    if tier == "push":
        return replace(plan, texts=_flooded(dice, plan.texts, ends))
    if tier == "html":
        return replace(plan, manners=Manners(zipped=dice.random() < 0.3, churn=_some(dice, _PAGE_CHURN)))
    return _as_feed(dice, plan, ends)


def _as_feed(dice: random.Random, plan: OriginPlan, ends: float) -> OriginPlan:
    """Give a feed its archive, its revisions and absences, and its manners."""
    archive = _texts(dice, dice.uniform(0.3, 1.0), _ARCHIVE_DAYS * DAY, shift=-_ARCHIVE_DAYS * DAY - 60)
    charset: Charset = "utf-8" if plan.style == "json" else dice.choice(get_args(Charset))
    texts = [_unsteady(dice, text, ends) for text in (*archive, *plan.texts)]
    resets_at = math.inf
    if len(archive) > 12 and dice.random() < 0.6:
        resets_at = _reset_moment(dice, texts, ends)
    churn = _some(dice, _FEED_CHURN, 0.15)
    return replace(
        plan,
        texts=tuple(texts),
        validators="none" if "stamp" in churn else plan.validators,
        manners=Manners(dice.choice(_WRONG_TYPES), charset, dice.random() < 0.3, churn, resets_at),
    )


def _reset_moment(dice: random.Random, texts: Sequence[Text], ends: float) -> float:
    """Draw when a feed moves to another system: at a quiet time, as entries dated just before are reported again."""
    for _ in range(20):
        at = dice.uniform(CALM, max(CALM, ends - CALM))
        news = any(at - _SETTLED < text.at < at + 60 or at - 60 < text.revised_at < at + 60 for text in texts)
        # An entry that is absent just after the reset returns under another identity.
        if not news and not any(text.away[0] - CALM < at < text.away[1] for text in texts):
            return at
    return math.inf


def _unsteady(dice: random.Random, text: Text, ends: float) -> Text:
    """Let an entry be revised, or be absent from its feed for a while."""
    first = max(text.at, CALM / 2) + 600
    drawn = dice.random()
    if drawn < 0.10 and first < ends:
        return replace(text, revised_at=dice.uniform(first, ends), revision=_words(dice))
    if drawn < 0.20 and first < ends:
        left = dice.uniform(first, ends)
        return replace(text, away=(left, left + dice.uniform(600, 12 * 3600)))
    return text


def _housed(dice: random.Random, number: int, plan: OriginPlan, others: Sequence[OriginPlan]) -> OriginPlan:
    """Let a source share the machine of another, or be reached by redirects."""
    hosts = [other for other in others if other.tier != "push" and not _is_quiet(others.index(other))]
    if plan.tier != "push" and hosts and dice.random() < 0.3:
        other = dice.choice(hosts)
        name = f"www.{other.machine}" if dice.random() < 0.4 else other.machine
        return replace(plan, host=name, path=f"/{plan.tier}{number}")
    if plan.tier != "push" and dice.random() < 0.3:
        scheme = plan.address.split("/")[0]
        here, there = f"{scheme}//{plan.host}/old", f"{scheme}//moved{number}.shore.org/from"
        return replace(plan, via=dice.choice(((here,), (there,), (there, here))))
    return plan


def _some(dice: random.Random, kinds: Sequence[Churn], share: float = 0.4) -> tuple[Churn, ...]:
    return tuple(kind for kind in kinds if dice.random() < share)


def _texts(dice: random.Random, per_day: float, ends: float, *, shift: float = 0.0) -> tuple[Text, ...]:
    drawn: list[Text] = []
    for at in moments(dice, per_day, 0.0, ends - 2):
        # Whole seconds, each once: Last-Modified can't distinguish smaller steps.
        drawn.append(Text(max(float(round(at)), drawn[-1].at + 1 if drawn else 1.0), _words(dice)))
    return tuple(replace(text, at=text.at + shift) for text in drawn)


def _words(dice: random.Random) -> tuple[str, ...]:
    words = dice.sample(WORDS, dice.randint(12, 24))
    if dice.random() < 0.3:
        words.insert(dice.randrange(len(words)), ALERT_WORD)
    return tuple(words)


def _flooded(dice: random.Random, texts: Sequence[Text], ends: float) -> tuple[Text, ...]:
    """Add a burst of frames within a second."""
    if dice.random() < 0.5 or ends < 2 * CALM:
        return tuple(texts)
    begins = round(dice.uniform(CALM, ends - 60)) + 0.5
    burst = [Text(begins + n / _FLOOD, _words(dice)) for n in range(_FLOOD)]
    return tuple(sorted([*texts, *burst], key=lambda text: text.at))
