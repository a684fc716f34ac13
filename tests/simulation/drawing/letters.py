"""Worlds of deliveries: no origins, but alerts that users change, and receivers with every trouble.

They begin a day or two before a clock change somewhere; a third last long enough for a destination to be disabled.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

from storage.records.destination import EMAIL, WEBHOOK
from tests.simulation.chances import chance
from tests.simulation.deliveries.services import SERVICES
from tests.simulation.delivery_plans import (
    MAIL_FAULTS,
    READER_FAULTS,
    RECEIVER_FAULTS,
    SERVICE_FAULTS,
    AlertPlan,
    AlertState,
    AlertStep,
    Correspondence,
    DestinationPlan,
    DestinationState,
    DestinationStep,
    Mode,
    Quiet,
    ReaderPlan,
    Saying,
)
from tests.simulation.drawing.moments import moments
from tests.simulation.drawing.node_troubles import node_troubles
from tests.simulation.origins.texts import EPOCH
from tests.simulation.program import CALM, DAY, SERVICE, ClockStep, Ending, Fault, Program
from tests.simulation.world import POST

WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "glade", "heron")
ZONES = ("UTC", "Europe/Stockholm", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia")
CHANGES = (1_790_000_000.0, 1_791_041_400.0, 1_792_890_000.0, 1_793_512_800.0, 1_805_007_600.0, 1_806_195_600.0)
"""Unix times of no change, and of those in Lord Howe, Europe and New York in autumn, New York and Europe in spring."""
MODES: tuple[Mode, ...] = ("instant", "instant", "instant", "15min", "hourly", "daily")
SOURCES = 3
TAGS = ("label:north", "label:south", "topic:tides")
KINDS = (EMAIL, *SERVICES)
LASTING = ("refused", "http500", "forbidden", "redirects", "lost")
"""Troubles of a receiver that may last nearly all of the time."""
_OURS = ("dns", "servfail", "offline", "dead line", "disk full")
_PLAIN = "plain.example.org"
_LENGTHS = (0.6, 0.8, 1.2, 1.5, 5.5, 6.5)


def draw_letters(
    seed: str,
    *,
    days: float | None = None,
    point_crash: float = 0.01,
    lives: float = 8.0,
    troubles: Sequence[str] = RECEIVER_FAULTS,
    modes: Sequence[Mode] = MODES,
    kinds: Sequence[str] = (WEBHOOK,),
) -> Program:
    """Draw a world of deliveries. days: drawn from the seed if not given. lives: of the service, about.

    troubles: of the receivers. modes: of the destinations, the likelier ones several times. kinds: of the destinations.
    """
    dice = chance(seed, "letters")
    drawn = dice.choice(_LENGTHS)
    days = drawn if days is None else days
    ends = days * DAY
    plan = _correspondence(seed, ends, modes, kinds)
    program = Program(
        seed=seed,
        days=days,
        origins=(),
        clients=(),
        faults=(),
        steps=_steps(chance(seed, "steps"), ends),
        endings=_endings(chance(seed, "endings"), ends, lives / max(1.0, days)),
        point_crash=point_crash,
        looks_per_second=0.01,
        letters=plan,
        season=dice.choice(CHANGES) - dice.uniform(0.2, 0.8) * ends - EPOCH,
    )
    return replace(program, faults=_faults(seed, plan.hosts, ends, troubles))


def draw_letters_of_nodes(seed: str) -> Program:
    """Draw an hour or two of deliveries by several nodes; some are killed, stopped or cut off."""
    program = draw_letters(seed, days=0.06, point_crash=0.0, modes=("instant", "15min"))
    dice = chance(seed, "nodes")
    nodes = dice.randint(2, 3)
    return replace(
        program,
        faults=tuple(fault for fault in program.faults if fault.where != SERVICE),
        steps=(),
        endings=(),
        nodes=nodes,
        troubles=node_troubles(dice, nodes, 60.0, program.ends - CALM / 4),
    )


def draw_kinds(
    seed: str, *kinds: str, days: float | None = None, troubles: Sequence[str] = (), modes: Sequence[Mode] = MODES
) -> Program:
    """Draw a world of messengers and mail, each with its own troubles.

    kinds: all, if none are named. troubles: only these, if any are named; the service seldom ends then.
    """
    program = draw_letters(
        seed,
        days=days,
        point_crash=0.0 if troubles else 0.01,
        lives=1.0 if troubles else 8.0,
        modes=modes,
        kinds=kinds or KINDS,
    )
    assert program.letters is not None
    mail = {each.host for each in program.letters.destinations if each.kind == EMAIL}
    own = tuple(fault for fault in program.faults if fault.where == SERVICE)
    drawn = list[Fault]()
    for host in program.letters.hosts:
        fitting = troubles or (MAIL_FAULTS if host in mail else SERVICE_FAULTS)
        drawn += _troubles(chance(seed, f"troubles/{host}"), host, program.ends, fitting) if host != _PLAIN else []
    return replace(program, faults=tuple(sorted((*own, *drawn), key=lambda fault: fault.at)))


def draw_hub(seed: str, *troubles: str) -> Program:
    """Draw a world of a published feed and its subscribers. troubles: theirs, all if none are named."""
    calm = bool(troubles)
    program = draw_letters(
        seed, days=0.8, point_crash=0.0 if calm else 0.01, lives=1.0 if calm else 8.0, troubles=("odd success",)
    )
    plan, ends, dice = program.letters, program.ends, chance(seed, "readers")
    assert plan is not None
    week = 7 * 86_400  # longer than any trouble: a subscriber is owed nothing after its lease
    short = 4500  # ends between two renewals, if they do not count
    readers = (
        ReaderPlan("reader0", "reader0.people.org", "atom", 100.0, math.inf, short, renewed=True),
        ReaderPlan("reader1", "reader1.people.org", "rss", 110.0, math.inf, week, renewed=True),
        ReaderPlan("reader2", "reader2.people.org", "json", dice.uniform(CALM, ends / 2), math.inf, week, renewed=True),
        ReaderPlan("leaves", "leaves.people.org", "atom", 120.0, ends * dice.uniform(0.3, 0.6), week, renewed=True),
        ReaderPlan("lapses", "lapses.people.org", "rss", 130.0, math.inf, 7200, renewed=False),
    )
    some = sorted(dice.sample(range(len(plan.sayings)), min(40, len(plan.sayings))))
    drawn = [fault for fault in program.faults if fault.where == SERVICE]
    for reader in readers[1:3]:
        drawn += _troubles(chance(seed, f"troubles/{reader.host}"), reader.host, ends, troubles or READER_FAULTS)
    return replace(
        program,
        letters=replace(plan, sayings=tuple(plan.sayings[n] for n in some), readers=readers),
        faults=tuple(sorted(drawn, key=lambda fault: fault.at)),
    )


def draw_edits(seed: str) -> Program:
    """Draw a world without faults, with many events around changes of alerts."""
    calm = draw_letters(seed, days=0.5, point_crash=0.0, lives=1.0, troubles=("odd success",), modes=("instant",))
    assert calm.letters is not None
    dice = chance(seed, "talk")
    edits = [step.at for alert in calm.letters.alerts for step in alert.steps if step.at > CALM]
    talk = sorted(at + dice.uniform(0.05, 0.5) for at in edits for _ in range(25))
    sayings = tuple(Saying(at, dice.randrange(SOURCES), tuple(dice.sample(WORDS, 3))) for at in talk)
    return replace(calm, faults=(), endings=(), steps=(), letters=replace(calm.letters, sayings=sayings))


def draw_hasty(seed: str) -> Program:
    """Draw a world without faults, with many events, whose keeper hangs up in the middle of nearly all requests."""
    calm = draw_letters(seed, days=0.2, point_crash=0.0, lives=0.1, troubles=("odd success",), modes=("instant",))
    assert calm.letters is not None
    dice = chance(seed, "haste")
    edits = [step.at for alert in calm.letters.alerts for step in alert.steps if step.at > CALM]
    edits += [step.at for plan in calm.letters.destinations for step in plan.steps if step.at > CALM]
    talk = sorted(at + dice.uniform(0.1, 240) for at in edits for _ in range(4))
    sayings = tuple(Saying(at, dice.randrange(SOURCES), tuple(dice.sample(WORDS, 3))) for at in talk)
    plan = replace(calm.letters, sayings=sayings, hasty=True)
    return replace(calm, faults=(), endings=(), steps=(), letters=plan)


def draw_windows(seed: str) -> Program:
    """Draw a world of digests without faults, with many events around the end of a window."""
    calm = draw_letters(seed, days=0.15, point_crash=0.0, lives=0.1, troubles=("odd success",), modes=("15min",))
    assert calm.letters is not None
    dice = chance(seed, "windows")
    ends = (at - (EPOCH + calm.season) % 900 for at in range(900, int(calm.ends), 900))
    talk = sorted(at + dice.uniform(-1, 3) for at in ends for _ in range(6) if at > 900)
    sayings = tuple(Saying(at, dice.randrange(SOURCES), tuple(dice.sample(WORDS, 3))) for at in talk)
    return replace(calm, faults=(), endings=(), steps=(), letters=replace(calm.letters, sayings=sayings))


def draw_crowd(seed: str) -> Program:
    """Draw a world of very many deliveries due at once; all receivers but one hang."""
    kinds: tuple[str, ...] = ("silent", "trickle")
    begins = CALM + 60
    alerts = tuple(AlertPlan(f"alert{n}", (AlertStep(5.0 + n, AlertState((WORDS[0],))),)) for n in range(4))
    destinations = tuple(
        DestinationPlan(
            f"crowd{n}", f"alert{n % 4}", f"crowd{n % 12}.receiver.org", (_set(30.0 + n, DestinationState()),)
        )
        for n in range(72)
    )
    well = DestinationPlan("well", "alert0", "well.receiver.org", (_set(150.0, DestinationState()),))
    dice = chance(seed, "crowd")
    sayings = tuple(Saying(begins + n / 10, 0, (WORDS[0],)) for n in range(6))
    faults = [
        Fault(begins - 10, 40.0, dice.choice(kinds), host) for host in dict.fromkeys(d.host for d in destinations)
    ]
    plan = Correspondence(1, sayings, alerts, (*destinations, well), DAY)
    return Program(seed, 0.1, (), (), tuple(faults), (), (), 0.0, 0.01, letters=plan)


# --- events and alerts -----------------------------------------------------------------------------------------------


def _correspondence(seed: str, ends: float, modes: Sequence[Mode], kinds: Sequence[str]) -> Correspondence:
    alerts = tuple(_over_tags(_alert(chance(seed, f"alert/{n}"), n, ends), chance(seed, f"over/{n}")) for n in range(3))
    hosts = [f"receiver{n}.example.org" for n in range(4)]
    plans = [_destination(chance(seed, f"destination/{n}"), n, hosts, modes, ends) for n in range(6)]
    if kinds != (WEBHOOK,):
        order = list(kinds)
        chance(seed, "kinds").shuffle(order)
        plans = [_as_kind(plan, order[n % len(order)]) for n, plan in enumerate(plans)]
    # One that stays unchanged, of an unchanged alert, at a receiver that is always healthy.
    plain = DestinationPlan("plain", "alert0", _PLAIN, (_set(40.0, DestinationState()),))
    edits = [step.at for alert in alerts for step in alert.steps] + [step.at for plan in plans for step in plan.steps]
    sayings = _tagged(seed, _sayings(chance(seed, "sayings"), edits, ends))
    return Correspondence(SOURCES, sayings, alerts, (*plans, plain), ends / 12)


def _tagged(seed: str, sayings: Sequence[Saying]) -> tuple[Saying, ...]:
    """Draw each source's tags over time: now and then a user edits them."""
    dice = chance(seed, "tags")
    has: dict[int, tuple[str, ...]] = {}
    tagged = []
    for saying in sayings:
        if saying.source not in has or dice.random() < 0.2:
            has[saying.source] = tuple(dice.sample(TAGS, dice.randint(0, 2)))
        tagged.append(replace(saying, tags=has[saying.source]))
    return tuple(tagged)


def _sayings(dice: random.Random, edits: Sequence[float], ends: float) -> tuple[Saying, ...]:
    """Draw single events, bursts of several in one second, and events at the moments of changes."""
    drawn: list[float] = moments(dice, 24 / (ends / DAY), CALM / 2, ends)
    for at in moments(dice, 5 / (ends / DAY), CALM, ends):
        drawn += [at + dice.uniform(0, 3) for _ in range(dice.randint(3, 14))]
    for at in (at for at in edits if at > CALM):
        drawn += [at + dice.uniform(-0.05, 0.15)] if dice.random() < 0.7 else []
    return tuple(
        Saying(at, dice.randrange(SOURCES), tuple(dice.sample(WORDS, dice.randint(1, 3)))) for at in sorted(drawn)
    )


def _alert(dice: random.Random, number: int, ends: float) -> AlertPlan:
    def state() -> AlertState:
        words = tuple(dice.sample(WORDS, dice.randint(2, 5)))
        sources = () if dice.random() < 0.7 else tuple(sorted(dice.sample(range(SOURCES), 2)))
        return AlertState(words, sources, enabled=dice.random() < 0.85)

    first = AlertStep(10.0 + number, replace(state(), enabled=True))
    if number == 0:
        return AlertPlan("alert0", (AlertStep(10.0, AlertState(WORDS[:4])),), notices=True)
    steps = [AlertStep(at, state()) for at in moments(dice, 4 / (ends / DAY), CALM, ends)]
    if dice.random() < 0.15 and steps:
        steps[-1] = replace(steps[-1], state=None)
    return AlertPlan(f"alert{number}", (first, *steps))


def _over_tags(plan: AlertPlan, dice: random.Random) -> AlertPlan:
    """Let some of an alert's states name tags, with sources or instead; never in the first alert, which is for all."""
    if plan.name == "alert0":
        return plan
    steps = []
    for step in plan.steps:
        tags = () if dice.random() < 0.7 else tuple(dice.sample(TAGS, dice.randint(1, 2)))
        steps.append(step if step.state is None else replace(step, state=replace(step.state, tags=tags)))
    return replace(plan, steps=tuple(steps))


def _destination(
    dice: random.Random, number: int, hosts: Sequence[str], modes: Sequence[Mode], ends: float
) -> DestinationPlan:
    def state() -> DestinationState:
        quiet = None
        if dice.random() < 0.25:
            begins = dice.randrange(24)
            hours = ((begins + dice.randint(1, 9)) % 24, dice.choice((0, 30)))
            quiet = Quiet(f"{begins:02d}:15", f"{hours[0]:02d}:{hours[1]:02d}", dice.choice(ZONES))
        return DestinationState(
            dice.choice(modes), dice.random() < 0.8, quiet, dice.choice((0, 2, 3, 8, 23)), dice.choice(ZONES)
        )

    begins = dice.choice((50.0, 60.0, dice.uniform(CALM, ends / 2)))
    steps = [_set(begins, replace(state(), enabled=True))]
    for at in moments(dice, 5 / (ends / DAY), max(CALM, begins + 60), ends):
        do = dice.choice(("set", "set", "rotate", "test"))
        steps.append(_set(at, state()) if do == "set" else DestinationStep(at, do))  # type: ignore[arg-type]  # of a tuple of literals
    if dice.random() < 0.2:
        steps[1:] = [step for step in steps[1:] if step.at < ends * 0.7]
        steps.append(DestinationStep(ends * dice.uniform(0.7, 0.9), "delete"))
    alert = f"alert{number % 3}"
    return DestinationPlan(f"letter{number}", alert, dice.choice(hosts), tuple(steps))


def _as_kind(plan: DestinationPlan, kind: str) -> DestinationPlan:
    """Return a plan for people: unsigned; mail begins early, because its recipient has to confirm first."""
    first, *steps = (replace(step, do="test") if step.do == "rotate" else step for step in plan.steps)
    if kind == EMAIL:
        first = replace(first, at=min(first.at, 60.0))
    return replace(plan, host=POST.host if kind == EMAIL else f"{kind}.people.org", steps=(first, *steps), kind=kind)


def _set(at: float, state: DestinationState) -> DestinationStep:
    return DestinationStep(at, "set", state)


# --- faults ----------------------------------------------------------------------------------------------------------


def _faults(seed: str, hosts: Sequence[str], ends: float, kinds: Sequence[str]) -> tuple[Fault, ...]:
    """Draw troubles of all receivers but the plain one, and our own."""
    drawn: list[Fault] = []
    for host in hosts:
        if host != _PLAIN:
            drawn += _troubles(chance(seed, f"troubles/{host}"), host, ends, kinds)
    dice = chance(seed, "our own troubles")
    for at in moments(dice, 3 / (ends / DAY), CALM, ends):
        lasts = min(dice.expovariate(1 / 600), ends - at)
        drawn.append(Fault(at, lasts, dice.choice(_OURS), SERVICE))
    return tuple(sorted(drawn, key=lambda fault: fault.at))


def _troubles(dice: random.Random, host: str, ends: float, kinds: Sequence[str]) -> list[Fault]:
    """Draw a sequence of troubles of minutes, hours or days; some receivers are away for most of the time."""
    drawn, at = [], CALM + dice.expovariate(1 / (0.15 * ends))
    if dice.random() < 0.2:
        kind = dice.choice([each for each in kinds if each in LASTING] or kinds)
        return [Fault(at, (ends - at) * dice.uniform(0.8, 1.0), kind, host)]
    while at < ends:
        lasts = dice.choice((dice.uniform(30, 600), dice.uniform(600, 7200), dice.uniform(7200, 0.4 * ends)))
        drawn.append(Fault(at, min(lasts, ends - at), dice.choice(kinds), host))
        at += lasts + dice.expovariate(1 / (0.12 * ends))
    return drawn


def _steps(dice: random.Random, ends: float) -> tuple[ClockStep, ...]:
    by = (-3600.0, 3600.0, -3600.0, 3600.0, -90.5, 90.5, round(dice.uniform(-3600, 3600), 3))
    return tuple(ClockStep(at, dice.choice(by)) for at in moments(dice, 2.5 / (ends / DAY), CALM, ends))


def _endings(dice: random.Random, ends: float, per_day: float) -> tuple[Ending, ...]:
    return tuple(Ending(at, 1.0, dice.random() < 0.3) for at in moments(dice, per_day, CALM, ends))
