"""Whole programs: the common world, where everything can happen, and worlds about one thing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from storage.records.tiers import TIERS, SourceType
from tests.simulation.browser import DIES, HANGS, MISSING, UNFILLED
from tests.simulation.chances import chance
from tests.simulation.drawing import origins, scenes
from tests.simulation.drawing.moments import moments
from tests.simulation.drawing.node_troubles import node_troubles
from tests.simulation.program import (
    ALERT_WORD,
    CALM,
    DAY,
    DISK_FAULTS,
    HOOK,
    HOST_FAULTS,
    LINE_FAULTS,
    SERVICE,
    SERVICE_FAULTS,
    SESSION_FAULTS,
    AlertPlan,
    ClientPlan,
    ClockStep,
    Do,
    Ending,
    Fault,
    Meddling,
    OriginPlan,
    Program,
    Revocation,
    RobotsPlan,
    Session,
    Wish,
)
from tests.simulation.standby import AWAY, PLACE, SLOW

HOPS, KEPT = 6, 30
"""Of a world of members: pages of new items in an hour, and events that the log keeps."""
PACE = 900.0
"""Seconds between two checks of a source, on average. Ten sources alone would be checked every two minutes, unlike any
library worth simulating: thousands of sources share ten checks a second.
"""


def draw(seed: str, *, days: float, sources: int, point_crash: float = 0.01, pace: float = PACE) -> Program:
    """Draw the program of a seed. pace: seconds between two checks of a source, on average."""
    ends = days * DAY
    program = Program(
        seed=seed,
        days=days,
        origins=origins.origins(seed, sources, ends),
        clients=_clients(seed, ends),
        faults=(),
        steps=_steps(chance(seed, "steps"), ends),
        endings=_endings(chance(seed, "endings"), ends),
        point_crash=point_crash,
        looks_per_second=max(0.01, sources / pace),
    )
    faults = [*_faults(chance(seed, "faults"), program.machines, ends), *_disk_faults(chance(seed, "disk"), ends)]
    return replace(
        program,
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        robots=origins.robots(seed, program.machines),
        meddling=_meddling(chance(seed, "meddling"), program.origins, ends),
    )


def _calm(seed: str, *, days: float, sources: int, pace: float = PACE) -> Program:
    """Draw a world without crashes and without user changes."""
    return replace(draw(seed, days=days, sources=sources, point_crash=0.0, pace=pace), meddling=())


def draw_outage(seed: str, kind: str, *, sources: int = 24) -> Program:
    """Draw a world whose only fault is an outage of our own line for 20 minutes; and a restart, long after."""
    calm = _calm(seed, days=0.16, sources=sources)
    begins = CALM + chance(seed, "outage").uniform(0, 1200)
    outage = Fault(begins, 1200.0, kind, SERVICE)
    late = Ending(begins + 6600.0, 0.05, politely=False)
    return replace(calm, faults=(outage,), steps=(), endings=(late,), clients=calm.clients[:1])


def draw_troubles(seed: str, *kinds: str, sources: int = 6, steps: float = 0.0, days: float = 0.3) -> Program:
    """Draw a world without crashes. Every origin has these troubles in turn, and time to recover from each.

    steps: how often a day our clock is set.
    """
    calm = _calm(seed, days=days, sources=sources, pace=PACE / 2)
    faults: list[Fault] = []
    for machine in calm.machines:
        dice = chance(seed, f"troubles/{machine}")
        at, order = CALM + dice.uniform(0, 1800), list(kinds)
        dice.shuffle(order)
        while at < calm.ends - CALM:
            faults.append(Fault(at, dice.uniform(900, 2700), order[len(faults) % len(order)], machine))
            at = faults[-1].ends + dice.uniform(3000, 4500)
    return replace(
        calm,
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        steps=_steps(chance(seed, "steps"), calm.ends, steps) if steps else (),
        endings=(),
        clients=calm.clients[:1],
    )


def draw_coverage(seed: str, *, sources: int = 2) -> Program:
    """Draw a night of repeated stops, kills and clock steps."""
    calm = _calm(seed, days=0.22, sources=sources, pace=PACE / 2)
    dice, ends = chance(seed, "coverage"), calm.ends
    endings = (
        Ending(at, dice.choice((dice.uniform(0.05, 3), dice.uniform(3, 900))), dice.random() < 0.5)
        for at in moments(dice, 28.0, CALM / 2, ends)
    )
    sizes = (dice.uniform(-7200, 7200), dice.uniform(-120, 120), dice.uniform(1.5, 20))
    steps = (ClockStep(at, round(dice.choice(sizes), 3)) for at in moments(dice, 9.0, CALM / 2, ends))
    crashes = dice.choice((0.0, 0.0, 0.02))
    troubles = (
        Fault(dice.uniform(CALM, ends - CALM), dice.uniform(1200, 3000), dice.choice(("unavailable", "hangs")), machine)
        for machine in calm.machines
    )
    return replace(
        calm,
        faults=tuple(sorted(troubles, key=lambda fault: fault.at)),
        endings=tuple(endings),
        steps=tuple(steps),
        clients=(),
        point_crash=crashes,
    )


def draw_heartbeats(seed: str) -> Program:
    """Draw three hours of heartbeats; the service is killed or stopped every few minutes.

    In one world of four several nodes share the database; in one its clock is set.
    """
    dice = chance(seed, "heartbeats")
    every, sort = dice.choice((60.0, 60.0, 120.0, 300.0)), dice.choice(("alone", "alone", "clock", "nodes"))
    if sort == "nodes":
        return replace(draw_nodes(seed), clients=(), meddling=(), heartbeat=every)
    calm = _calm(seed, days=0.125, sources=1, pace=PACE / 3)
    endings = (
        Ending(
            at, dice.choice((dice.uniform(0.05, 3), dice.uniform(0.05, 3), dice.uniform(3, 600))), dice.random() < 0.1
        )
        for at in moments(dice, 360.0, 60.0, calm.ends)
    )
    return replace(
        calm,
        faults=(),
        endings=tuple(endings),
        steps=_steps(dice, calm.ends, 24.0) if sort == "clock" else (),
        clients=(),
        point_crash=dice.choice((0.0, 0.0, 0.02)),
        heartbeat=every,
    )


def draw_in_time(seed: str, *, sources: int = 6, days: float = 0.3) -> Program:
    """Draw a world of feeds with batches of one date, of alerts made while frames arrive, and of sources that fail for
    longer than some alert's patience, through restarts.
    """
    calm = _calm(seed, days=days, sources=sources, pace=PACE / 2)
    dice = chance(seed, "in time")
    alerts, plans = [], []
    for plan in calm.origins:
        if plan.tier == "push":
            alert = AlertPlan(round(dice.uniform(CALM, 2 * CALM)) + 0.25, "harbor", dice.choice((60, 300)))
            alerts.append(alert)
            plan = replace(plan, texts=origins.steady(dice, plan.texts, alert))  # noqa: PLW2901  # drawn step by step
        elif plan.tier == "feed" and plan.texts:
            plan = replace(plan, texts=origins.batch(dice, plan, calm.ends))  # noqa: PLW2901  # drawn step by step
        plans.append(plan)
    alerts.append(AlertPlan(60.0, "lagoon", dice.choice((120, 600))))
    alerts.append(AlertPlan(61.0, "meadow", 2400))
    faults = [
        Fault(2 * CALM + dice.uniform(0, 1800), dice.uniform(2700, 4500), "http500", machine)
        for machine in calm.machines
    ]
    endings = tuple(
        Ending(2 * CALM + at, dice.uniform(0.05, 3), politely=dice.random() < 0.3) for at in (2000.0, 3100.0, 4000.0)
    )
    return replace(
        calm,
        origins=tuple(plans),
        alerts=tuple(alerts),
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        steps=(),
        endings=endings,
        clients=calm.clients[:1],
    )


def draw_disk(seed: str, *kinds: str, sources: int = 4, days: float = 0.16) -> Program:
    """Draw a world without crashes whose own disk has these troubles in turn, or all of them, nearly all the time."""
    calm = _calm(seed, days=days, sources=sources, pace=PACE / 2)
    dice = chance(seed, "disk troubles")
    away = {plan.machine: "refused" for plan in calm.origins if plan.tier == "push"}
    faults = [
        Fault(CALM + dice.uniform(0, 3600), dice.uniform(3600, 4500), away.get(machine, "http500"), machine)
        for machine in calm.machines
    ]
    at, order = CALM + dice.uniform(0, 600), list(kinds or DISK_FAULTS)
    dice.shuffle(order)
    while at < calm.ends - CALM / 2:
        kind = order[len(faults) % len(order)]
        faults.append(Fault(at, 0.0 if kind == "power cut" else dice.uniform(120, 900), kind, SERVICE))
        at = faults[-1].ends + dice.uniform(60, 900)
    plans = tuple(origins.chatty(dice, plan, calm.ends, 30.0) for plan in calm.origins)
    return replace(
        calm,
        origins=plans,
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        steps=(),
        endings=(),
        clients=calm.clients[:1],
    )


def draw_meddled(seed: str, *, sources: int = 5, days: float = 0.13) -> Program:
    """Draw a world of constant source changes by a user, on an often slow disk; their host is away now and then."""
    calm = _calm(seed, days=days, sources=sources, pace=PACE / 3)
    dice = chance(seed, "meddled")
    imports = tuple(Meddling(at, "", "import") for at in moments(dice, 24, CALM, calm.ends))
    plans = origins.together([origins.chatty(dice, plan, calm.ends) for plan in calm.origins])
    house = next(plan.machine for plan in plans if plan.tier != "push")
    # Most bugs are in frames that wait for a commit.
    favoured = [*plans, *(plan for plan in plans if plan.tier == "push" for _ in range(2))]
    drawn = _meddling(dice, favoured, calm.ends, DAY / 45)
    hasty = [replace(meddling, lasts=meddling.lasts / 10) for meddling in drawn]
    faults, at = list[Fault](), CALM
    while at < calm.ends - CALM:
        faults.append(Fault(at, dice.uniform(300, 900), "partition", house))
        faults.append(Fault(faults[-1].ends + 900, dice.uniform(900, 1800), "disk slow", SERVICE))
        at = faults[-1].ends + dice.uniform(60, 600)
    return replace(
        calm,
        origins=plans,
        robots=(),
        meddling=tuple(sorted((*hasty, *imports), key=lambda it: it.at)),
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        steps=(),
        endings=(),
        clients=calm.clients[:1],
    )


def draw_swept(seed: str) -> Program:
    """Draw a world of frequent sweeps; disk and hosts fail now and then, and a user gives titles."""
    calm = _calm(seed, days=0.1, sources=4, pace=PACE / 3)
    dice = chance(seed, "swept")
    away = {plan.machine: "refused" for plan in calm.origins if plan.tier == "push"}
    faults, at = list[Fault](), CALM + dice.uniform(0, 300)
    while at < calm.ends - CALM / 4:
        faults.append(Fault(at, dice.uniform(300, 1200), "disk errors", SERVICE))
        at = faults[-1].ends + dice.uniform(60, 300)
    for machine in calm.machines:
        troubles = moments(dice, 20, CALM, calm.ends - CALM / 4)
        faults += [Fault(at, dice.uniform(60, 600), away.get(machine, "http500"), machine) for at in troubles]
    titles = moments(dice, DAY / 20, CALM, calm.ends)
    return replace(
        calm,
        meddling=tuple(Meddling(at, dice.choice(calm.origins).url, "title") for at in titles),
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        steps=(),
        endings=(),
        clients=calm.clients[:1],
        sweep=300.0,
    )


def draw_tight(seed: str) -> Program:
    """Draw a world of small mailboxes and pages, where retention overtakes a reader after an hour.

    Its clients filter events, read slowly, and lose their keys.
    """
    calm = _calm(seed, days=0.12, sources=3, pace=PACE / 2)
    dice = chance(seed, "tight")
    endings = tuple(Ending(at, dice.uniform(0.05, 3), dice.random() < 0.5) for at in moments(dice, 20, CALM, calm.ends))
    slow = tuple(
        Fault(at, dice.uniform(30, 300), "disk slow", SERVICE) for at in moments(dice, 30, CALM, calm.ends - CALM)
    )
    plans = [origins.chatty(dice, plan, calm.ends, 60.0) for plan in calm.origins]
    return replace(
        calm,
        origins=tuple(origins.flooded(dice, plan, calm.ends) if plan.tier == "push" else plan for plan in plans),
        faults=slow,
        steps=(),
        endings=endings,
        clients=_choosy(dice, calm),
        tight=True,
        hooks=2,
        key_check=20.0,
    )


def _choosy(dice: random.Random, calm: Program) -> tuple[ClientPlan, ...]:
    """Give each client another filter; one reads slowly, the others lose their keys."""
    tiers = {plan.tier: plan.url for plan in calm.origins}
    wishes = (Wish(), Wish(tier="push"), Wish(source=tiers["feed"]), Wish(tier="push", word=ALERT_WORD))
    drawn = []
    for number, wish in enumerate(wishes):
        plan = replace(_client(dice, number, calm.ends), wish=wish)
        slow = number == 3
        lost = () if slow else tuple(moments(dice, 30, CALM, calm.ends))
        revocations = tuple(Revocation(at, dice.choice((0.0, dice.uniform(1, 60)))) for at in lost)
        drawn.append(replace(plan, rests=dice.uniform(8, 20) if slow else 0.0, revocations=revocations))
    return tuple(drawn)


def draw_epilogue(seed: str, epilogue: str) -> Program:
    """Draw a short calm world whose database is damaged or replaced afterwards."""
    calm = _calm(seed, days=0.07, sources=3, pace=PACE / 3)
    dice = chance(seed, "epilogue")
    # Later events go to the service on the restored backup.
    late = calm.ends + 4 * CALM
    plans = tuple(origins.chatty(dice, plan, late) for plan in calm.origins if plan.tier != "html")
    return replace(calm, origins=plans, faults=(), steps=(), endings=(), clients=calm.clients[:1], epilogue=epilogue)


def draw_standby(seed: str, epilogue: str = "") -> Program:
    """Draw a world with a standby and a replica whose place is away or slow now and then; half of them with kills.

    epilogue: one of two kinds of take-over; "" draws one.
    """
    calm = draw_epilogue(seed, epilogue or chance(seed, "take over").choice(("take over", "take over alive")))
    dice = chance(seed, "replica")
    ends = calm.ends - 1200.0
    faults = tuple(
        Fault(at, dice.uniform(20, 300), dice.choice((AWAY, SLOW)), PLACE) for at in moments(dice, 400, CALM, ends)
    )
    endings = tuple(
        Ending(at, dice.uniform(0.05, 3), dice.random() < 0.3)
        for at in moments(dice, dice.choice((1, 250)), CALM, ends)
    )
    return replace(calm, faults=faults, endings=endings, has_standby=True)


def draw_nodes(seed: str, *, sources: int = 4, tiers: tuple[SourceType, ...] = tuple(TIERS)) -> Program:
    """Draw a world of two to four nodes on one database; some are killed, stopped, cut off, or leave.

    A user changes sources at any of them, frames come at the same moments, and a client loses its key now and then.
    tiers: of the sources.
    """
    calm = _calm(seed, days=0.07, sources=4 * sources, pace=PACE / 6 / 4)
    dice = chance(seed, "nodes")
    drawn = [plan for plan in calm.origins if plan.tier in tiers][:sources]
    plans = tuple(_in_step(dice, plan, calm.ends) for plan in drawn)
    plain, keyed, *_ = calm.clients
    lost = tuple(Revocation(at, 30.0) for at in moments(dice, 90, CALM / 2, calm.ends))
    nodes = dice.randint(2, 4)
    return replace(
        calm,
        origins=plans,
        clients=(plain, replace(keyed, revocations=lost)),
        robots=(),
        faults=(),
        steps=(),
        endings=(),
        meddling=_meddling(dice, plans, calm.ends, DAY / 300),
        nodes=nodes,
        troubles=node_troubles(dice, nodes, CALM / 2, calm.ends - CALM / 2),
        looks_per_second=sources / (PACE / 6),
    )


def draw_polling_nodes(seed: str) -> Program:
    """Draw nodes that check feeds, which nearly always have new entries."""
    return draw_nodes(seed, tiers=("feed",))


def draw_pushed_nodes(seed: str) -> Program:
    """Draw nodes with push sources, whose frames come at the same moments."""
    return draw_nodes(seed, tiers=("push",))


def _in_step(dice: random.Random, plan: OriginPlan, ends: float) -> OriginPlan:
    """Let the frames of all push streams come at the same moments, so that their owners commit at once."""
    chatty = origins.chatty(dice, plan, ends, 30.0, 120.0)
    if plan.tier != "push":
        return chatty
    return replace(chatty, texts=tuple(replace(text, at=10.0 * round(text.at / 10)) for text in chatty.texts))


def draw_meaning(seed: str, *names: str) -> Program:
    """Draw a world of scripted pages, through restarts; the scripts define the checks with a wanted change.

    names: of the pages, all if none are named.
    """
    calm = _calm(seed, days=0.15, sources=1)
    plans = scenes.pages(chance(seed, "meaning"))
    plans = tuple(plan for plan in plans if not names or plan.host.partition(".")[0] in names)
    dice = chance(seed, "meaning/endings")
    endings = tuple(
        Ending(CALM + at + dice.uniform(0, 500), dice.uniform(0.05, 3), politely=dice.random() < 0.3)
        for at in (900.0, 1800.0, 2700.0)
    )
    return replace(
        calm,
        origins=plans,
        faults=(),
        robots=(),
        steps=(),
        endings=endings,
        clients=calm.clients[:1],
        looks_per_second=len(plans) / 120,
    )


def draw_rendered(seed: str) -> Program:
    """Draw a world of pages, most of them empty without a browser, on a machine whose browser dies, hangs and is
    uninstalled in turn, through restarts. One host has troubles, too; the others are never to blame.
    """
    calm = _calm(seed, days=0.2, sources=1, pace=PACE / 2)
    dice = chance(seed, "rendered")
    plans = []
    for number in range(4):
        plan = origins.a_page(chance(seed, f"rendered/{number}"), number, calm.ends)
        plans.append(replace(plan, shell=number < 3, render="always" if number in (1, 3) else ""))
    faults, at, kinds = list[Fault](), CALM, [DIES, HANGS, MISSING]
    dice.shuffle(kinds)
    for kind in (*kinds, *kinds):
        faults.append(Fault(at + dice.uniform(0, 600), dice.uniform(600, 1500), kind, SERVICE))
        at = faults[-1].ends + dice.uniform(600, 900)
    ill, at = plans[1].machine, CALM
    for kind in (UNFILLED, "robots forbids", "http500", "wall", UNFILLED):
        faults.append(Fault(at + dice.uniform(0, 600), dice.uniform(900, 1800), kind, ill))
        at = faults[-1].ends + dice.uniform(900, 1800)
    endings = tuple(Ending(CALM + after, dice.uniform(0.05, 3), politely=False) for after in (4000.0, 9000.0))
    return replace(
        calm,
        origins=tuple(plans),
        robots=((ill, RobotsPlan("User-agent: *\nDisallow: /closed\n", max_age=600)),),
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        steps=(),
        endings=endings,
        clients=calm.clients[:1],
        looks_per_second=100.0,
    )


def draw_members(seed: str, *, days: float = 0.17) -> Program:
    """Draw a world with sources' extras: a list whose items are followed to another host, sites that renew their
    sessions (one rendered with pictures, one a WebSocket), and one whose parts a user picks; on a log that keeps
    little, through restarts.
    """
    calm = _calm(seed, days=days, sources=1, pace=PACE / 2)
    plans = origins.members(seed, calm.ends)
    news, club, shown, board, live = plans
    dice = chance(seed, "members")
    faults, at = list[Fault](), CALM
    while at < calm.ends - CALM:
        for plan in (news, club):
            faults.append(
                Fault(at + dice.uniform(0, 900), dice.uniform(60, 240), dice.choice(SESSION_FAULTS), plan.machine)
            )
        apart = chance(seed, f"members/shown/{at:.0f}")
        faults.append(
            Fault(at + apart.uniform(0, 900), apart.uniform(300, 600), apart.choice(SESSION_FAULTS), shown.machine)
        )
        at += 3600.0
    cuts = chance(seed, "members/cuts")
    faults += [
        Fault(at, cuts.uniform(30, 90), "closes", live.machine) for at in moments(cuts, 96, CALM, calm.ends - CALM)
    ]
    endings = tuple(
        Ending(at, dice.uniform(0.05, 3), dice.random() < 0.2) for at in moments(dice, 100, CALM, calm.ends - CALM / 4)
    )
    picks = [
        Meddling(at, board.url, "pick", 0.0, None if number % 3 == 2 else dice.randrange(board.window), number % 3 == 1)
        for number, at in enumerate(moments(dice, 40, CALM, calm.ends - CALM / 2))
    ]
    return replace(
        calm,
        origins=plans,
        robots=(),
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        steps=(),
        endings=endings,
        meddling=tuple(picks),
        clients=calm.clients[:1],
        looks_per_second=100.0,
        hops=HOPS,
        keeps=KEPT,
    )


def draw_everything(seed: str, *, days: float = 0.3, sources: int = 6) -> Program:
    """Draw a crashing world that has every kind of fault, one after the other."""
    program = draw(seed, days=days, sources=sources)
    dice = chance(seed, "everything")
    kinds = [*((kind, dice.choice(program.machines)) for kind in HOST_FAULTS), *((k, SERVICE) for k in SERVICE_FAULTS)]
    dice.shuffle(kinds)
    step = (program.ends - CALM) / len(kinds)
    faults = tuple(Fault(CALM + n * step, dice.uniform(60, step), *kind) for n, kind in enumerate(kinds))
    return replace(program, faults=faults)


def _clients(seed: str, ends: float) -> tuple[ClientPlan, ...]:
    """Draw three clients: unfiltered, losing its key now and then, and filtered by feed or word."""
    plain, keyed, choosy = (_client(chance(seed, f"client/{n}"), n, ends) for n in range(3))
    dice = chance(seed, "keys")
    lost = tuple(Revocation(at, dice.choice((0.0, 60.0))) for at in moments(dice, 2, CALM, ends))
    wish = Wish(tier="feed", word=dice.choice(("", ALERT_WORD)))
    return plain, replace(keyed, revocations=lost), replace(choosy, wish=wish)


def _client(dice: random.Random, number: int, ends: float) -> ClientPlan:
    sessions, at = [], dice.uniform(60.0, CALM)
    while at < ends:
        leaves = at + dice.choice((dice.uniform(5, 600), dice.uniform(600, 6 * 3600)))
        sessions.append(Session(at, min(leaves, ends)))
        at = leaves + dice.choice((dice.uniform(0.1, 10), dice.uniform(10, 2 * 3600)))
    return ClientPlan(
        name=f"client{number}",
        framing="ndjson" if number % 3 == 1 else "sse",
        resumes_by="query" if number % 3 == 2 else "header",
        sessions=tuple(sessions),
    )


def _faults(dice: random.Random, machines: Sequence[str], ends: float) -> tuple[Fault, ...]:
    drawn = []
    for at in moments(dice, 36.0, CALM, ends):
        lasts = min(dice.expovariate(1 / 900), 3600.0, ends - at)
        if dice.random() < 0.2:
            drawn.append(Fault(at, lasts, dice.choice(LINE_FAULTS), SERVICE))
        else:
            drawn.append(Fault(at, lasts, dice.choice(HOST_FAULTS), dice.choice([*machines, HOOK, HOOK])))
    return tuple(drawn)


def _disk_faults(dice: random.Random, ends: float, per_day: float = 4.0) -> list[Fault]:
    """Draw troubles of our own disk, of minutes; a power cut is a moment."""
    drawn = []
    for at in moments(dice, per_day, CALM, ends):
        kind = dice.choice(DISK_FAULTS)
        lasts = 0.0 if kind == "power cut" else min(dice.uniform(10, 900), ends - at)
        drawn.append(Fault(at, lasts, kind, SERVICE))
    return drawn


def _meddling(
    dice: random.Random, plans: Sequence[OriginPlan], ends: float, per_day: float = 6.0
) -> tuple[Meddling, ...]:
    """Draw a user's changes to sources; only feeds are deleted and come back."""
    drawn: list[Meddling] = []
    for at in moments(dice, per_day, CALM, ends - CALM / 2):
        plan = dice.choice(plans)
        kinds: list[Do] = ["edit", "edit", "refused", "pause"]
        do = dice.choice([*kinds, "renew"] if plan.tier == "feed" else kinds)
        drawn.append(Meddling(at, plan.url, do, dice.uniform(1, 900)))
    return tuple(drawn)


def _steps(dice: random.Random, ends: float, per_day: float = 2.0) -> tuple[ClockStep, ...]:
    return tuple(ClockStep(at, round(dice.uniform(-3600, 3600), 3)) for at in moments(dice, per_day, CALM, ends))


def _endings(dice: random.Random, ends: float) -> tuple[Ending, ...]:
    return tuple(
        Ending(at, dice.choice((dice.uniform(0.05, 3), dice.uniform(3, 900))), dice.random() < 0.3)
        for at in moments(dice, 6.0, CALM, ends)
    )
