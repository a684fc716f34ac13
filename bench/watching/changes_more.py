"""More changes to report: hours, calendars, timetables, lists, news, policies, and replaced pages."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from msgspec.structs import replace

from bench.watching import nouns
from bench.watching.changes import CHANGES
from bench.watching.documents import Doc, Part
from bench.watching.nouns import DAY, SPRING
from bench.watching.scripts import SELDOM, USUAL, Kind, Script, Step, fresh, still, walk
from bench.watching.tongues import Tongue

MOVED_GRACE = 12


def hours_changed(t: Tongue, chance: Random) -> Script:
    times = nouns.week(t, chance)
    docs = [nouns.hours(t, times)]
    for value in chance.sample(("07:30 – 16:00", "11:00 – 20:00", t.closed, "13:00 – 15:30"), 3):
        place = chance.choice([n for n, time in enumerate(times) if time != value])
        times = [*times[:place], value, *times[place + 1 :]]
        docs.append(nouns.hours(t, times))
    return Script(walk(docs, chance))


def holiday(t: Tongue, chance: Random) -> Script:
    times = nouns.week(t, chance)
    first, second = (t.holiday.format(date=t.day(SPRING + n * DAY)) for n in chance.sample(range(5, 60), 2))
    notes = ("", first, second, "") if chance.random() < 0.5 else ("", first, "")
    return Script(walk([nouns.hours(t, times, note) for note in notes], chance))


def calendar_cell(t: Tongue, chance: Random) -> Script:
    grid = nouns.calendar(t, chance)
    docs = [nouns.availability(t, grid)]
    for _ in range(4):
        row, column = chance.randrange(len(grid)), chance.randrange(3)
        value = chance.choice([v for v in t.vacant if v != grid[row][column]])
        grid = [[value if (r, c) == (row, column) else old for c, old in enumerate(own)] for r, own in enumerate(grid)]
        docs.append(nouns.availability(t, grid))
    return Script(walk(docs, chance))


def listing_came_or_went(t: Tongue, chance: Random) -> Script:
    flats = [(name, t.money(chance.randrange(60, 200) * 10)) for name in chance.sample(t.flats, 6)]
    numbers = chance.choice(((3, 4, 5, 6), (6, 5, 4, 3), (4, 5, 4, 5)))
    return Script(walk([nouns.listings(t, flats[:n][::-1]) for n in numbers], chance))


def listing_price(t: Tongue, chance: Random) -> Script:
    flats = [(name, t.money(chance.randrange(60, 200) * 10)) for name in t.flats]
    docs, place = [nouns.listings(t, flats)], chance.randrange(6)
    for amount in chance.choice(((1385, 1345), (975, 955, 905), (2235, 2195, 2235))):
        flats = [*flats[:place], (flats[place][0], t.money(amount)), *flats[place + 1 :]]
        docs.append(nouns.listings(t, flats))
    return Script(walk(docs, chance))


def departure(t: Tongue, chance: Random) -> Script:
    """A departure is late, cancelled, or permanently moved."""
    rows = nouns.board(t, chance)
    docs = [nouns.timetable(t, rows)]
    for _ in range(3):
        place = chance.randrange(7)
        time, stop, remark = rows[place]
        late = t.late.format(t=f"{int(time[:2]) + 1:02}:{time[3:]}")
        values = [
            (time, stop, late),
            (time, stop, t.cancelled),
            (f"{time[:2]}:{(int(time[3:]) + 7) % 60:02}", stop, remark),
        ]
        rows = [*rows[:place], chance.choice([v for v in values if v != rows[place]]), *rows[place + 1 :]]
        docs.append(nouns.timetable(t, rows))
    return Script(walk(docs, chance))


def notice_posted(t: Tongue, chance: Random) -> Script:
    names = chance.sample(t.board, 7)
    lists = chance.choice(([names[n:] for n in (4, 3, 2, 1)], [names[n : n + 4] for n in (3, 2, 1, 0)]))
    return Script(walk([nouns.notices(t, own) for own in lists], chance))


def notice_taken_down(t: Tongue, chance: Random) -> Script:
    names = chance.sample(t.board, 6)
    docs = [nouns.notices(t, names)]
    for _ in range(3):
        gone = chance.choice(names)
        names = [name for name in names if name != gone]
        docs.append(nouns.notices(t, names))
    return Script(walk(docs, chance))


def headline(t: Tongue, chance: Random) -> Script:
    names = chance.sample(t.headlines, 7)
    length = chance.choice((3, 4))
    return Script(walk([nouns.news(t, names[n : n + length]) for n in (3, 2, 1, 0)], chance))


def release(t: Tongue, chance: Random) -> Script:
    major = chance.randrange(2, 9)
    every = [(f"{major}.{n}", t.notes[n : n + chance.choice((1, 2))]) for n in range(5)]
    return Script(walk([nouns.releases(t, every[n::-1]) for n in (1, 2, 3, 4)], chance))


def paragraph(t: Tongue, chance: Random) -> Script:
    prose, place = list(t.prose), chance.randrange(1, 6)
    fewer = prose[:place] + prose[place + 1 :]
    lists = chance.choice(([prose, fewer], [fewer, prose], [prose, fewer, prose]))
    return Script(walk([nouns.policy(t, own) for own in lists], chance))


def _edits(t: Tongue, chance: Random, edits: list[str]) -> Script:
    prose, docs = list(t.prose), [nouns.policy(t, t.prose)]
    for edit in edits:
        old, new = edit.split(" => ")
        prose = [line.replace(old, new) for line in prose]
        docs.append(nouns.policy(t, prose))
    return Script(walk(docs, chance))


def words_edited(t: Tongue, chance: Random) -> Script:
    return _edits(t, chance, chance.sample(t.edits, 2))


def negated(t: Tongue, chance: Random) -> Script:
    there = t.negation.split(" => ")
    return _edits(t, chance, [t.negation, f"{there[1]} => {there[0]}"] if chance.random() < 0.3 else [t.negation])


def deadline(t: Tongue, chance: Random) -> Script:
    first = chance.randrange(20, 40)
    dates = [t.day(SPRING + (first + more) * DAY) for more in chance.choice(((0, 14, 7), (0, 1), (0, 31)))]
    return Script(walk([nouns.policy(t, (*t.prose[:3], t.deadline.format(date=date))) for date in dates], chance))


def event_moved(t: Tongue, chance: Random) -> Script:
    planned = nouns.programme(t, chance)
    docs = [nouns.events(t, planned)]
    for place in chance.sample(range(5), 3):
        moved = (planned[place][0], t.day(SPRING + chance.randrange(130, 200) * DAY))
        planned = [*planned[:place], moved, *planned[place + 1 :]]
        docs.append(nouns.events(t, planned))
    return Script(walk(docs, chance))


def event_called_off(t: Tongue, chance: Random) -> Script:
    planned, beside = nouns.programme(t, chance), chance.random() < 0.5
    docs = [nouns.events(t, planned)]
    for place in chance.sample(range(5), 2):
        name, date = planned[place]
        off = (name, f"{date} – {t.called_off}") if beside else (f"{t.called_off}: {name}", date)
        planned = [*planned[:place], off, *planned[place + 1 :]]
        docs.append(nouns.events(t, planned))
    return Script(walk(docs, chance))


def fee(t: Tongue, chance: Random) -> Script:
    form = chance.choice((t.price, t.price, "{n},00", "1.0{n}"))
    fees = [(name, form.format(n=chance.randrange(10, 90))) for name in t.fees]
    docs = [nouns.rates(t, fees)]
    for place in chance.sample(range(5), 3):
        fees = [*fees[:place], (fees[place][0], form.format(n=chance.randrange(91, 99))), *fees[place + 1 :]]
        docs.append(nouns.rates(t, fees))
    return Script(walk(docs, chance))


def file_changed(t: Tongue, chance: Random) -> Script:
    """A file is replaced: other size, date, or edition."""
    facts = chance.choice((
        ("312 kB", "348 kB", "331 kB"),
        tuple(t.day(SPRING - n * DAY) for n in (300, 4, 1)),
        ("2024", "2025", "2026"),
    ))  # fmt: skip
    files = [(name, facts[0]) for name in t.files]
    docs, place = [nouns.downloads(t, files)], chance.randrange(4)
    for fact in facts[1:]:
        files = [*files[:place], (files[place][0], fact), *files[place + 1 :]]
        docs.append(nouns.downloads(t, files))
    return Script(walk(docs, chance))


def section_came(t: Tongue, chance: Random) -> Script:
    base = chance.choice((nouns.NOUNS["policy"], nouns.NOUNS["rates"], nouns.NOUNS["hours"], nouns.NOUNS["pricing"]))
    doc = base(t, chance)
    more = Part("prose", t.section, t.section_prose)
    return Script(walk([doc, replace(doc, parts=(*doc.parts, more))], chance))


def rewritten(t: Tongue, chance: Random) -> Script:
    """The page is replaced for good, with hardly a word in common. Report it once, when it is certain."""
    first, second = chance.sample(("policy", "news", "notices", "releases", "downloads", "rates"), 2)
    old, new = nouns.NOUNS[first](t, chance), nouns.NOUNS[second](t, chance)
    same = chance.random() < 0.5
    new = replace(new, title=old.title, heading=old.heading) if same else new
    steps = (*still(old, 4), fresh(new), *still(new, 9))
    return Script(steps, spacings=(USUAL, USUAL, SELDOM))


def moved_away(t: Tongue, chance: Random) -> Script:
    """A redirecting page replaces it for good. One report is right, after a hold."""
    old = nouns.NOUNS[chance.choice(("policy", "careers", "pricing", "status"))](t, chance)
    words = chance.choice((t.redirecting, t.error[1], t.login[1], t.repair[1]))
    stub = Doc(t.lang, words, words, (Part("prose", "", t.error[2:]),), bare=chance.random() < 0.6)
    steps = (*still(old, 4), fresh(stub), *still(stub, MOVED_GRACE + 4))
    return Script(steps, grace=MOVED_GRACE, spacings=(USUAL, SELDOM))


def behind_a_swap(t: Tongue, chance: Random) -> Script:
    """The page changed while another replaced it: the first check that shows it again is new."""
    jobs = chance.sample(t.jobs, 7)
    docs = [nouns.careers(t, jobs[:n]) for n in (4, 5, 6)]
    words = chance.choice((t.login, t.error, t.repair, t.challenge))
    stub = Doc(t.lang, words[0], words[0], (Part("prose", "", words[1:]),), bare=chance.random() < 0.6)
    away = Step(lambda _chance, _at: stub, False, None)
    looks = chance.choice((1, 2, 3))
    steps = [*still(docs[0], 4), *[away] * looks, fresh(docs[1]), *still(docs[1], 4)]
    return Script((*steps, *[away] * looks, fresh(docs[2]), *still(docs[2], 5)))


MORE: Mapping[str, Kind] = {
    **CHANGES,
    "hours changed": hours_changed,
    "holiday": holiday,
    "calendar cell": calendar_cell,
    "listing came or went": listing_came_or_went,
    "listing price": listing_price,
    "departure": departure,
    "notice posted": notice_posted,
    "notice taken down": notice_taken_down,
    "headline": headline,
    "release": release,
    "paragraph": paragraph,
    "words edited": words_edited,
    "one word": negated,
    "deadline": deadline,
    "event moved": event_moved,
    "event called off": event_called_off,
    "fee": fee,
    "file changed": file_changed,
    "section came": section_came,
    "rewritten": rewritten,
    "moved away": moved_away,
    "behind a swap": behind_a_swap,
}
"""All kinds that must be reported."""
