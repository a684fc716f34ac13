"""Generated histories of JSON documents: members that differ at each request, and members with content.

The changes of each check are known in advance.
"""

from __future__ import annotations

import base64
import copy
import json
import random
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from actors.content.changes.churn import ChangeVerdict
from actors.content.changes.memory import decode_memory
from actors.content.messages import PageLook, PageRequest
from actors.content.tasks import look_page

CHECKS = 14
_PERIOD = 600_000
_BEGAN = 1_790_000_000_000
_LEARNED = 2
"""Checks after the baseline that the judge may use to learn noise."""

_WORDS = "harbour tide pilot crane buoy anchor ferry quay mast sail rope chart reef dock wharf gull lock weir".split()  # noqa: SIM905
_STATES = ("operational", "degraded", "partial_outage", "down", "maintenance", "sold out", "in stock", "closed")


_TOKENS: tuple[Callable[[random.Random], Any], ...] = (
    lambda d: str(uuid.UUID(int=d.getrandbits(128), version=4)),
    lambda d: f"{d.getrandbits(40):x}",
    lambda d: f"{d.getrandbits(64):016x}",
    lambda d: f"{d.getrandbits(128):032x}",
    lambda d: base64.b64encode(d.randbytes(18)).decode(),
    lambda d: base64.urlsafe_b64encode(d.randbytes(9)).decode().rstrip("="),
    lambda d: f"req_{d.getrandbits(80):020x}",
    lambda d: f"00-{d.getrandbits(128):032x}-{d.getrandbits(64):016x}-01",
    lambda d: f"1-{d.getrandbits(32):08x}-{d.getrandbits(96):024x}",
    lambda d: d.getrandbits(48),
)


def _noise(c: random.Random) -> tuple[str, Callable[[int, int, int], Any]]:
    """Return the name of a member that differs at each request, and a function of seed, check and
    time that makes it."""
    kind, skew = c.randrange(8), c.randrange(-3, 3) * 1_000 + c.randrange(1_000)
    if kind < 4:
        make = c.choice(_TOKENS)
        name = c.choice(("requestId", "request_id", "nonce", "csrfToken", "trace", "correlation"))
        return name, lambda seed, n, at: make(random.Random(f"{seed}/{name}/{n}"))
    clocks: tuple[Callable[[int], Any], ...] = (
        lambda at: at // 1_000, lambda at: at, lambda at: at * 1_000 + 417, lambda at: at / 1_000,
        lambda at: datetime.fromtimestamp(at / 1_000, UTC).isoformat(),
        lambda at: datetime.fromtimestamp(at / 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        lambda at: datetime.fromtimestamp(at // 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S"),
        lambda at: datetime.fromtimestamp(at // 1_000, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT"),
    )  # fmt: skip
    if kind < 6:
        clock = c.choice(clocks)
        return c.choice(("generated_at", "now", "timestamp", "serverTime", "ts")), lambda _, n, at: clock(at + skew)
    if kind == 6:
        up, step = c.randrange(10**6), c.choice((1, 1_000))
        return c.choice(("uptime", "up", "age")), lambda _, n, at: (at - _BEGAN) // step + up
    start = c.randrange(100, 10**6)
    counted: tuple[tuple[str, Callable[[random.Random, int], Any]], ...] = (
        ("took", lambda d, n: d.randrange(2, 400)),
        ("duration", lambda d, n: round(d.random() / 7, 6)),
        ("requests", lambda d, n: start + 997 * n + d.randrange(900)),
        ("server", lambda d, n: f"web-{(n * 7 + start) % 11:02}"),
    )
    called, count = c.choice(counted)
    return called, lambda seed, n, at: count(random.Random(f"{seed}/{called}/{n}"), n)


class Truth(NamedTuple):
    """A change at a check, and words that a report of it shows."""

    check: int
    what: str
    shows: str


class History(NamedTuple):
    bodies: list[str]
    truth: list[Truth]
    noise: int


def _phrase(c: random.Random) -> str:
    return " ".join(c.choice(_WORDS) for _ in range(c.randrange(4, 12))).capitalize() + "."


def _item(c: random.Random, number: int) -> dict[str, Any]:
    everything: dict[str, Any] = {
        "id": 1_000 + 7 * number,
        "name": f"{c.choice(_WORDS)}-{number}",
        "price": round(c.uniform(5, 900), 2),
        "stock": c.randrange(200),
        "status": c.choice(_STATES),
        "version": f"{c.randrange(9)}.{c.randrange(20)}.{c.randrange(20)}",
        "sha": f"{c.getrandbits(160):040x}",
        "published": datetime.fromtimestamp(_BEGAN / 1_000 - c.randrange(10**7), UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "note": _phrase(c),
        "open": c.random() < 0.5,
        "seats": {"free": c.randrange(40), "all": 40 + c.randrange(60)},
    }
    return everything


def _parts(c: random.Random, shape: random.Random, number: int) -> dict[str, Any]:
    item = _item(c, number)
    kept = ["name", *shape.sample([name for name in item if name != "name"], shape.randrange(2, 8))]
    return {name: item[name] for name in item if name in kept}


_CHANGES = ("price", "stock", "status", "version", "sha", "published", "note", "open", "free")


def _holders(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [data["main"], *data["items"]]


def _changed(c: random.Random, data: dict[str, Any], check: int) -> Truth:
    how = c.random()
    if how < 0.1:
        name = f"extra{check}"
        data["main"][name] = said = f"{c.choice(_WORDS)} {c.choice(_WORDS)} {check}"
        return Truth(check, "member added", said)
    if how < 0.2:
        fresh = _parts(c, random.Random("shape"), 100 + check)
        if data["items"]:
            drawn = _item(c, 100 + check)
            fresh = {name: drawn[name] for name in data["items"][0]}
        data["items"].insert(c.choice((0, len(data["items"]))), fresh)
        return Truth(check, "element added", fresh["name"])
    if how < 0.27 and len(data["items"]) > 2:
        gone = data["items"].pop(c.randrange(len(data["items"])))
        return Truth(check, "element removed", gone["name"])
    holder = c.choice(_holders(data))
    names = [name for name in _CHANGES if name in holder or (name == "free" and "seats" in holder)]
    if how < 0.33 and len(names) > 1:
        name = c.choice([name for name in names if name in holder] or ["name"])
        if name in holder and name != "name":
            del holder[name]
            return Truth(check, "member removed", f'"{name}"')
    if not names:
        holder["note2"] = said = _phrase(c)
        return Truth(check, "member added", said)
    return _set(c, holder, c.choice(names), check)


def _set(c: random.Random, holder: dict[str, Any], name: str, check: int) -> Truth:
    fresh = _item(c, check)
    if name == "free":
        holder["seats"] = {**holder["seats"], "free": _other(c, holder["seats"]["free"])}
        return Truth(check, "count", str(holder["seats"]["free"]))
    if name == "open":
        holder[name] = not holder[name]
        return Truth(check, "bool", json.dumps(holder[name]))
    if name == "stock":
        holder[name] = _other(c, holder[name])
        return Truth(check, "count", str(holder[name]))
    if name == "status":
        holder[name] = c.choice([one for one in _STATES if one != holder[name]])
        return Truth(check, name, holder[name])
    if name == "published":
        at = _BEGAN + check * _PERIOD - c.randrange(_PERIOD)
        holder[name] = datetime.fromtimestamp(at / 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    else:
        holder[name] = fresh[name] if fresh[name] != holder[name] else fresh[name] * 2
    return Truth(check, name, json.dumps(holder[name], ensure_ascii=False).strip('"'))


def _other(c: random.Random, count: int) -> int:
    return max(0, count + c.choice((-3, -2, -1, 1, 2, 40))) if count > 5 else count + c.randrange(1, 9)


def history(seed: int) -> History:
    c = random.Random(f"json history {seed}")
    shape = random.Random(f"json shape {seed}")
    count = c.choice((0, 1, 3, 6, 12))
    data: dict[str, Any] = {
        "main": _parts(c, shape, 0),
        "items": [],
    }
    kept = random.Random(f"json item {seed}").getrandbits(32)
    data["items"] = [_parts(c, random.Random(kept), number) for number in range(1, count + 1)]
    noise = dict([_noise(c) for _ in range(c.choice((0, 1, 1, 2, 3, 4)))])
    each = c.random() < 0.2  # each item has its own noise
    etag = c.random() < 0.3
    where, listed, cached = c.randrange(4), c.random() < 0.2, c.random() < 0.15
    when = sorted(c.sample(range(1, CHECKS - 1), c.choice((0, 1, 1, 2, 3))))
    bodies, truth = list[str](), list[Truth]()
    request = 0
    for check in range(CHECKS):
        if check in when:
            truth.append(_changed(c, data, check))
            other = copy.deepcopy(data)
            if c.random() < 0.25 and (second := _changed(c, other, check)).what != truth[-1].what:
                truth.append(second)
                data = other
        if not cached or check in when or c.random() < 0.7 or not check:
            request = check
        at = _BEGAN + request * _PERIOD + 137
        fresh = {name: make(seed, request, at) for name, make in noise.items()}
        bodies.append(_written(data, fresh, seed, where, each=each, etag=etag, listed=listed, at=at))
    # The second of two changes at one check may undo the first.
    return History(bodies, [one for one in truth if _is_seen(one, bodies)], len(noise))


def _is_seen(one: Truth, bodies: list[str]) -> bool:
    """Another change at the same check may have undone this one."""
    before, after = bodies[one.check - 1 : one.check + 1]
    return one.shows in (before if "removed" in one.what else after)


def _written(
    data: dict[str, Any], fresh: dict[str, Any], seed: int, where: int, *, each: bool, etag: bool, listed: bool, at: int
) -> str:
    items = [dict(item) for item in data["items"]]
    if each:
        for item in items:
            own = random.Random(f"{seed}/{item['name']}/{at}")
            item["token"] = f"{own.getrandbits(96):024x}"
    main = dict(data["main"])
    if etag:
        main["etag"] = f'W/"{random.Random(json.dumps(data)).getrandbits(128):032x}"'
    whole: Any
    if where == 0:
        whole = {**fresh, **main, "items": items}
    elif where == 1:
        whole = {"meta": fresh, "data": {**main, "items": items}}
    elif where == 2:
        whole = {"data": {"main": main, "items": items}, "response": {"meta": {"info": fresh}, "ok": True}}
    else:
        whole = {**main, **fresh, "about": _phrase(random.Random(seed)) * 3, "list": {"of": {"items": items}}}
    if listed and not items and where == 0:
        whole = [whole]
    return json.dumps(whole, indent=random.Random(seed).choice((None, 2)))


class Played(NamedTuple):
    """How the judge reported a history. late: reported more than a check late, or never. false: events without a
    change after the first two checks; early: the same during them. quiet: later checks without a change.
    """

    told: int
    late: list[Truth]
    false: list[tuple[int, str]]
    early: list[tuple[int, str]]
    quiet: int


def shown(look: PageLook | ChangeVerdict) -> str:
    diff = look.diff
    if diff is None:
        return ""
    return " ".join([*diff.added, *diff.removed, *(f"{one.before} {one.after}" for one in diff.changed)])


def play(found: History) -> Played:
    memory: bytes | None = None
    open_, told, late = list[Truth](), 0, list[Truth]()
    false, early, quiet = list[tuple[int, str]](), list[tuple[int, str]](), 0
    for check, body in enumerate(found.bodies):
        at = _BEGAN + check * _PERIOD
        request = PageRequest(
            body.encode(), "application/json", "https://shore.example/api", memory=memory, at=at, number=check + 1
        )
        look = look_page(request)
        memory = look.memory
        assert decode_memory(memory) is not None
        open_ += [one for one in found.truth if one.check == check]
        if look.kind in {"changed", "moved"}:
            says = shown(look)
            hit = [one for one in open_ if one.shows in says]
            if hit:
                told += len(hit)
                open_ = [one for one in open_ if one not in hit]
            else:
                (early if check <= _LEARNED else false).append((check, says))
        elif check > _LEARNED and not open_:
            quiet += 1
        gone = [one for one in open_ if one.check < check]
        late += gone
        open_ = [one for one in open_ if one not in gone]
    return Played(told, late, false, early, quiet)
