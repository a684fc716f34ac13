"""The display of a source: its state, its last checks as ticks and on a time axis, its health and values as charts.

A tick's shape carries the meaning; the colour repeats it. Unchanged is a low tick, an event a high one, an unreported
change one between them. A failure hangs from above. A check that politeness or our own connection prevented floats in
the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

from actors.language.speaking import decimal, noted, say, say_as, say_many
from actors.messages.views import SourceView
from actors.series import NAMED, Point, Series
from api.dashboard.drawing import by_utc, named, steps
from api.nouns.values import SourceValues, decimal_of, ends, place, written
from api.problems import sentence
from storage.records import event
from storage.records.checks import Row, Verdict
from storage.records.identity import Millis, day_of
from storage.records.message import Message, message
from storage.records.source import DAYS, HEALTH, OWN_NAMESPACES, RESTS, SOURCES, Source, State
from storage.records.tiers import TIERS

KINDS: Final = {name: tier.noun for name, tier in TIERS.items()}
CAUSES: Final = {
    "reach": noted("Answers"),
    "yield": noted("Reports changes"),
    "partial": noted("Readable"),
    "stuck": noted("Can recover"),
}
RESTING: Final = noted("You can restore it for %(count)s minutes.")
MINUTES: Final = RESTS // 60_000


class SourceCondition(NamedTuple):
    """A source's state, and its explanation."""

    state: State
    says: Message | str


def standing(view: SourceView) -> SourceCondition:
    state = SOURCES[view.state]
    if not view.source.enabled:
        return SourceCondition(state, message("Not watched since %(at)s.", at=view.source.updated_at))
    if view.state not in ("failing", "resting", "throttled", "unrendered"):
        return SourceCondition(state, state.says)
    return SourceCondition(state, sentence(view.hot.last_error) if view.hot.last_error else view.hot.health.words)


def health(view: SourceView) -> SourceCondition | None:
    found = view.hot.health
    return None if found.score == 1.0 and found.flag == "ok" else SourceCondition(HEALTH[found.flag], found.words)


def facts(view: SourceView) -> dict[str, Any]:
    return {
        "view": view,
        "source": view.source,
        "name": name_of(view.source),
        "standing": standing(view),
        "health": health(view),
        "kind": KINDS[view.source.type],
        "labels": labels(view.source),
    }


def name_of(source: Source) -> str:
    return shown_as(source.name, source.url)


def shown_as(name: str, url: str) -> str:
    """Return a name, else the address without its scheme.

    >>> shown_as("", "https://shop.example/tickets")
    'shop.example/tickets'
    """
    return name or url.partition("://")[2]


def labels(source: Source) -> tuple[str, ...]:
    theirs = (tag for tag in source.tags if tag.partition(":")[0] not in OWN_NAMESPACES)
    return tuple(tag.removeprefix("label:") for tag in theirs)


Sort = Literal["same", "untold", "event", "fail", "wait"]
SORTS: Final[dict[Verdict, Sort]] = {
    Verdict.UNCHANGED: "same",
    Verdict.CHANGED: "event",
    Verdict.NOTHING_TO_TELL: "untold",
    Verdict.REMOTE_TRANSIENT: "fail",
    Verdict.THROTTLED: "wait",
    Verdict.REMOTE_PERMANENT: "fail",
    Verdict.CONTENT: "fail",
    Verdict.LOCAL: "wait",
}
TICKS: Final = 30
TICK_WIDTH, TICK_HEIGHT = 4, 16
SHAPES: Final[dict[Sort, tuple[int, int, str]]] = {
    "same": (11, 5, noted("%(count)s unchanged")),
    "untold": (6, 10, noted("%(count)s changed, not reported")),
    "event": (0, 16, noted("%(count)s with an event")),
    "fail": (0, 9, noted("%(count)s failed")),
    "wait": (6, 4, noted("%(count)s waited")),
}
"""A tick's distance from the top, its length, and its words."""


class Tick(NamedTuple):
    """One check."""

    at: Millis
    sort: Sort
    row: Row


class Strip(NamedTuple):
    """Ticks as one path per result, and the sentence that says the same."""

    paths: tuple[tuple[Sort, str], ...]
    says: str
    width: int = TICKS * TICK_WIDTH
    height: int = TICK_HEIGHT


def ticks(rows: Sequence[Row], count: int = TICKS) -> list[Tick]:
    """Return the last checks, oldest first. Only the first and last of a row have exact times."""
    found: list[Tick] = []
    for row in reversed(rows):
        found += reversed(list(_each(row, count - len(found))))
        if len(found) >= count:
            break
    return found[::-1]


def _each(row: Row, most: int) -> Iterator[Tick]:
    step = (row.last_at - row.first_at) / max(1, row.looks - 1)
    for number in range(max(0, row.looks - most), row.looks):
        yield Tick(Millis(round(row.first_at + number * step)), SORTS[row.verdict], row)


def strip(rows: Sequence[Row]) -> Strip:
    shown = ticks(rows)
    paths: dict[Sort, str] = {}
    for at, tick in enumerate(shown, TICKS - len(shown)):
        top, length, _ = SHAPES[tick.sort]
        paths[tick.sort] = f"{paths.get(tick.sort, '')}M{at * TICK_WIDTH + 1.5:g} {top}v{length}"
    return Strip(tuple(paths.items()), counted(shown))


def counted(shown: Sequence[Tick]) -> str:
    if not shown:
        return say("No check yet")
    counts = ((sum(tick.sort == sort for tick in shown), words) for sort, (_, _, words) in SHAPES.items())
    parts = ", ".join(say(words, count=count) for count, words in counts if count)
    return say_many("The last check: %(parts)s", "The last %(count)s checks: %(parts)s", len(shown), parts=parts)


WIDTH, HEIGHT, MARGIN = 640, 44, 8
SCALE: Final = 2  # the scale relative to a tick in a list
FOOT: Final = 40  # the baseline of the ticks, from the top


class TimelineMark(NamedTuple):
    """A check: its position, its shape, and its tooltip."""

    x: float
    top: int
    length: int
    sort: Sort
    tick: Tick


class Timeline(NamedTuple):
    """The chart. now, following: the positions of these times; following is None without a next check."""

    marks: tuple[TimelineMark, ...]
    begins: Millis
    ends: Millis
    now: float
    following: float | None
    says: str
    width: int = WIDTH
    height: int = HEIGHT
    foot: int = FOOT


def timeline(rows: Sequence[Row], now: Millis, following: Millis | None) -> Timeline | None:
    shown = ticks(rows)
    if not shown:
        return None
    begins, ends = shown[0].at, max(now, following or now, shown[-1].at)
    room = max(1, ends - begins)

    def place(at: Millis) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (at - begins) / room, 1)

    shapes = ((tick, *SHAPES[tick.sort][:2]) for tick in shown)
    marks = (
        TimelineMark(place(one.at), FOOT - SCALE * (16 - top), SCALE * long, one.sort, one) for one, top, long in shapes
    )
    due = None if following is None else place(max(following, begins))
    return Timeline(tuple(marks), begins, ends, place(min(max(now, begins), ends)), due, counted(shown))


LEAST = 2  # the fewest days to draw


class Course(NamedTuple):
    """values (hundredths, 0 for none), labels: per day since the first known one. says: the chart as a sentence."""

    values: Sequence[int]
    labels: Sequence[str]
    says: str


def course(scores: Mapping[int, float], now: Millis, zone: ZoneInfo) -> Course | None:
    """Return a source's worst score per day, or None with too few days.

    >>> course({0: 1.0, 2: 0.25}, Millis(2 * 86_400_000), ZoneInfo("UTC"))
    Course(values=[100, 0, 25], labels=['1 Jan: 1.00', '2 Jan: no check', '3 Jan: 0.25'], \
says='Each day’s worst score since 1 Jan: 0.25 at the lowest, on 3 Jan')
    """
    today = day_of(now)
    first = max(min(scores, default=today), today - DAYS + 1)
    days = range(first, today + 1)
    if len(days) < LEAST:
        return None
    values = [max(1, round(100 * scores[day])) if day in scores else 0 for day in days]
    labels = [f"{named(day)}: {decimal(scores[day], 2) if day in scores else say('no check')}" for day in days]
    worst = min(days, key=lambda day: scores.get(day, 1.0))
    lowest = scores.get(worst, 1.0)
    says = say("Each day’s worst score since %(day)s: %(score)s on all of them", day=named(first), score=decimal(1, 2))
    if lowest < 1:
        says = say(
            "Each day’s worst score since %(day)s: %(score)s at the lowest, on %(worst)s",
            day=named(first),
            score=decimal(lowest, 2),
            worst=named(worst),
        )
    return Course(values, labels, says + by_utc(now, zone))


MOST_SERIES = 8
VALUES, MOST_VALUES = 8, 200  # current values shown at once, and the most that can be unfolded
_MOST_POINTS = 200
SIZE = 640, 48
_SPEAKING = ("money", "availability", "percent", "version")  # types that a reader knows without a label


def _is_labelled(type: str, label: str, path: str) -> bool:
    """Return whether a reader knows the subject of a value: prose around a bare number or date is no label."""
    return bool(path) or type in _SPEAKING or not ("…" in label or label[:1].islower())


def _title(label: str, path: str) -> str:
    return path or label.partition(" … ")[0] or say("Value")


def listed(found: SourceValues) -> dict[str, Any]:
    """Return charts: the series that changed. first, rest: the current values without a chart, to show at once, and to
    unfold, such as numbers read from prose. more: how many are not shown.
    """
    is_shop = any(line.type == "money" for line in found.series)
    changed = [line for line in found.series if len(line.points) > 1 or line.points[-1].until is not None]
    known = [line for line in changed if _is_labelled(line.type, line.label, line.path)]
    # On a page with prices, a bare number that has changed once is usually a counter that is not known as one yet.
    bare = [line for line in known if is_shop and line.type == "number" and not line.path and len(line.points) == 2]
    charts = [line for line in known if line not in bare][:MOST_SERIES]
    ends = {line.key: line.points[-1] for line in charts}
    keyed = [(ends.get((str(now.value.type), now.value.unit, now.path or now.label)), now) for now in found.current]
    others = [now for end, now in keyed if end is None or not end.is_value(now.value)]
    order, rows = (*_SPEAKING, "date", "number"), dict[bool, list[dict[str, Any]]]({True: [], False: []})
    for now in sorted(others, key=lambda now: order.index(str(now.value.type)))[:MOST_VALUES]:
        type, value = str(now.value.type), now.value
        says = value.text if type == "availability" else with_unit(value.digits, value.unit, type)
        is_plain = _is_labelled(type, now.label, now.path) and (now.path != "" or type != "number" or not is_shop)
        rows[is_plain].append({"title": _title(now.label, now.path), "says": says, "since": now.since})
    shown = {"first": rows[True][:VALUES], "rest": rows[True][VALUES:] + rows[False]}
    return shown | {"charts": charts, "more": max(0, len(others) - MOST_VALUES) + found.more, "is_shop": is_shop}


def drawn(series: Series, now: Millis, moment: Callable[[int], str]) -> dict[str, Any]:
    """Return a series as the page shows it. title: its subject. gone: when it left the page, or None. now: the current
    or last value. lowest, highest: with their times; None for states. levels: of states, from the lowest up.
    """

    def shown(point: Point) -> str:
        text = point.text if series.type == "availability" else ""
        return text or with_unit(written(point), series.unit, series.type)

    points = series.points[-_MOST_POINTS:]
    labels = [f"{moment(point.at)}: {shown(point)}" for point in points]
    gone = {number: point.until for number, point in enumerate(points) if point.until is not None}
    last, extremes = points[-1], ends(series)
    lowest, highest = (None, None) if extremes is None else ((shown(point), point.at) for point in extremes)
    by_state = {point.value: shown(point) for point in sorted(points, key=lambda at: place(series.type, at))}
    drawing = {
        "title": _title(series.label, series.path),
        "is_date": series.type == "date",
        "now": shown(last),
        "gone": last.until,
        "before": shown(points[-2]) if len(points) > 1 else "",
        "at": last.at,
        "lowest": lowest,
        "highest": highest,
        "levels": list(by_state.values()) if extremes is None else [],
        "picture": steps(_heights(series, points), [point.at for point in points], now, labels, SIZE, gone=gone),
    }
    return drawing | {"says": _says(drawing, len(points), "" if last.until is None else moment(last.until))}


def _says(drawing: dict[str, Any], count: int, gone: str) -> str:
    said = {"title": drawing["title"], "count": count, "last": drawing["now"]}
    if gone:
        return say("%(title)s: %(count)s values, the last %(last)s, gone since %(gone)s", **said, gone=gone)
    if drawing["lowest"] is None:
        return say("%(title)s: %(count)s values, now %(last)s", **said)
    said |= {"lowest": drawing["lowest"][0], "highest": drawing["highest"][0]}
    return say("%(title)s: %(count)s values, from %(lowest)s to %(highest)s, now %(last)s", **said)


def _heights(series: Series, points: Sequence[Point]) -> list[float]:
    if points[0].number is not None:
        return [float(decimal_of(point)) for point in points]
    places = [place(series.type, point) for point in points]
    if series.type == "date":
        weights = (372, 31, 1)
        return [float(sum(part * by for part, by in zip(each, weights, strict=False))) for each in places]
    levels = sorted({*places})
    return [float(levels.index(each)) for each in places]


def with_unit(digits: str, unit: str, type: str = "money") -> str:
    """Return a value with its unit, as the reader's language writes numbers.

    >>> with_unit("12.50", "EUR"), with_unit("12.50", "SEK"), with_unit("5", "%"), with_unit("2.10", "", "version")
    ('€12.50', '12.50 SEK', '5 %', '2.10')
    """
    return event.with_unit(digits, unit, "." if type in NAMED else say_as("figures", "."))
