"""The decision whether a page has really changed: one check against the page's memory. It extracts nothing.

Blocks are compared as a multiset of canonical keys, so order, masks and markup do not matter. The comparison is with
the last *reported* state. Differences from it add up until their weight reaches the threshold (`EMIT`) and are
reported, or they vanish unreported and are then known as churn. `news` weighs a block; `difference`
pairs texts with their replacements; `swaps` detects another page in this one's place, and a page that alternates.

A reader that applies every delta in order holds the reported texts; a property test checks this over random histories.

A check that reads nothing new is recognised by a digest. The one of the rows covers all that blocks depend on. The one
of the tree costs no walk: it leaves out the parts that no walk reads. The one of the bytes costs no parse: it leaves
out the contents of programs, styles and simple comments, where the last parse has shown that they are none of its
texts and attributes. A check returns them if the same page would get the same verdict again: it brings and lacks no
block, or the judgement of its differences left the memory as it was and no rule counts their checks any more. The last
digest has the other inputs of that judgement, such as the day.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import compress
from typing import Literal

from msgspec import Struct, msgpack
from msgspec.structs import replace

from actors.content.changes import difference as differences
from actors.content.changes import members, swaps
from actors.content.changes.diff import DiffContexts, OmittedTexts, compare
from actors.content.changes.memory import (
    MOST_GONE,
    HeldPage,
    PageIdentity,
    PageMemory,
    PendingDifferences,
    SettledState,
    encode,
    pack,
    packed_recent,
    pending_of,
    placed,
    settled_of,
    state_of,
    unpack_keys,
    with_pending,
    with_state,
)
from actors.content.changes.news import OLD, KnownBlocks, WeighedBlock, WeighedDifference, as_reported, weighed
from actors.content.changes.swaps import CheckMoment, turn_of
from actors.content.messages import EMIT, PageRequest, StandIn, Withheld
from actors.content.pages.blocks import Blocks
from actors.content.pages.page import OpenedPage, PageReading
from actors.content.pages.traits import FURNITURE
from actors.content.pages.walls import evidence_of, is_ample
from storage.records.event import Delta, Diff

MINOR = 0.2  # the lowest score of an unreported difference that gets a line in the check's trail
UNCHANGED = "Every block is as it was."
_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 24 * 3_600_000
_BEHIND = StandIn("login", "a login stands in its place")
_TURNED = 3  # reported blocks turned furniture in one check; from this number on, the reading changed and not the page
_MOST_DOUBTS = 3
"""Quick checks in a row to settle a doubt; a page that redraws its texts every time then waits for its schedule."""
_SIZE = 16
BARE, _ROUGH, _ROWS, _STATE = (slice(at, at + _SIZE) for at in range(0, 4 * _SIZE, _SIZE))
"""The digests of a check: of the page's bytes, its tree, its rows, and of all else that its verdict depends on."""
_LONGEST_WAIT = 8  # checks that the slowest rule counts (`news._STAYS`, `swaps.LASTS`)
_NO_BLOCKS = Blocks((), (), (), partial=False)
FEW = 3  # a chosen part with at most this many blocks, before and now, is all content


class ChangeVerdict(Struct, frozen=True):
    """The verdict on a check. `diff` and `delta` are set for `changed` and `moved`, and never empty. `memory`: the new
    memory. `reason`: a sentence for the check's trail. `withheld`: the differences left out. `weighed`: the blocks that
    made it `changed`. `reverted`: it returns to a state reported earlier. `soon`: a check within a minute settles a
    doubt. `unsettled`: read the same page again even if unchanged. `trouble`: why this is not the page. `moved_to`: the
    new address of a `moved` page, or "". `digests`: see `last_digests`.
    """

    kind: Literal["baseline", "unchanged", "churn", "held", "changed", "moved"]
    memory: PageMemory
    diff: Diff | None
    delta: Delta | None
    score: float
    reason: str
    withheld: tuple[Withheld, ...] = ()
    weighed: tuple[Withheld, ...] = ()
    reverted: bool = False
    soon: bool = False
    unsettled: bool = False
    trouble: StandIn | None = None
    moved_to: str = ""
    digests: bytes = b""


class _Check(Struct, frozen=True):
    """Input of a decision. recent: keys of earlier checks, oldest first. aside: keys of today's furniture."""

    reading: PageReading
    face: PageIdentity
    address: str
    when: CheckMoment
    bar: float
    before: SettledState
    now: SettledState
    apart: differences.StateDifference
    recent: tuple[str, ...]
    aside: tuple[str, ...]
    pending: PendingDifferences
    known: KnownBlocks
    narrowed: bool
    made: members.MaskedStates


def judge(
    memory: PageMemory | None,
    reading: PageReading,
    shared: Sequence[str] = (),
    *,
    noise: Sequence[str] = (),
    bar: float = EMIT,
    when: CheckMoment = CheckMoment(0, 0),  # noqa: B008  # frozen
    address: str = "",
    chosen: bool = False,
) -> ChangeVerdict:
    """Return the verdict on a check of a page. shared: keys of the host's furniture (`difference.shared_keys`); noise:
    keys that the user marked; neither is reported. address: after redirects. chosen: the user chose the part.
    """
    face = swaps.face_of(reading, address)
    if memory is None or not memory.keys or reading.trouble is not None:
        return _first_verdict(memory, reading, face, when)
    if not when.number:
        when = replace(when, number=memory.looks + 1)
        memory = replace(memory, looks=when.number)
    before = replace(settled_of(memory), json=reading.json)
    now, aside = content_of(reading, frozenset(before.keys)), _aside(reading)
    between = differences.apart(before, now)
    few = chosen and 0 < len(now.keys) <= FEW and len(before.keys) <= FEW
    made = members.MaskedStates(before, now, memory.slots)
    if reading.json and not few:
        made = members.masked(memory, replace(before, places=placed(memory).places), now, between, when.number)
        before, now = made.before, made.now
        between = differences.apart(before, now)
    between = differences.with_assigned(between, memory, before, now)
    recent = unpack_keys(memory.recent)
    came, went = between.came.positions, between.went.positions
    pending = pending_of(memory, (now.keys[i] for i in came), (before.keys[i] for i in went), when.number)
    known = KnownBlocks(
        recent=frozenset(recent),
        aside=frozenset(aside),
        shared=frozenset(shared),
        noise=frozenset(noise),
        restless=differences.restless_places(memory.slots),
        nearly=differences.nearly_restless(memory.slots, when.number),
        gone=memory.gone,
        waits={block: when.number - since for block, since in pending.came.items()},
        absent={block: when.number - since for block, since in pending.missing.items()},
        today=_EPOCH + when.at // _DAY if when.at else 0,
        passed=(when.at - memory.told_at) / _DAY if memory.told_at and when.at else 0.0,
        chosen=few or reading.json,
        age=OLD if memory.gone else when.number - memory.told,
    )
    check = _Check(reading, face, address, when, bar, before, now, between, recent, aside, pending, known, chosen, made)
    return _judge_difference(memory, check)


def _first_verdict(
    memory: PageMemory | None, reading: PageReading, face: PageIdentity, when: CheckMoment
) -> ChangeVerdict:
    if reading.trouble is not None:
        says = f"Not the page: {reading.trouble}."
        return ChangeVerdict("held", memory or PageMemory(), None, None, 0.0, says, soon=True)
    now, aside = content_of(reading), _aside(reading)
    first = replace(pack(now, aside), face=face, told=when.number, began=when.at, told_at=when.at)
    return ChangeVerdict("baseline", first, None, None, 0.0, f"First check: {len(now.keys)} blocks.")


def _judge_difference(memory: PageMemory, check: _Check) -> ChangeVerdict:
    if memory.face.says and swaps.stand_in(check.reading) == memory.face.says:
        return ChangeVerdict("held", memory, None, None, 0.0, f"Not the page: {_BEHIND}.", trouble=_BEHIND)
    if not check.apart.came.positions and (check.reading.partial or not check.apart.went.positions):
        # Blocks beyond the depth or length limit are missing, but not necessarily gone.
        says = UNCHANGED if not check.apart.went.positions else "Cut short, with nothing new before the cut."
        settled = replace(_pending_memory(memory, check, ()), held=HeldPage(), doubts=0, slots=check.made.slots)
        why = _withheld_rows(check, [])
        if check.made.waits:
            says, soon = f"{swaps.MADE.capitalize()}.", check.made.soon
            return ChangeVerdict("churn", settled, None, None, 0.0, says, why, soon=soon, unsettled=True)
        return ChangeVerdict("unchanged", settled, None, None, 0.0, says, why)
    gone = frozenset(unpack_keys(memory.gone))
    swap = swaps.PageSwap(check.before, check.now, memory.face, check.face, check.reading, gone)
    if (check.narrowed and check.known.chosen) or not swap.is_one():
        return _decide(memory, check)
    match swap.stays(memory.held, check.when.at):
        case swaps.SwapReaction.WAITS:
            return _hold(memory, check)
        case swaps.SwapReaction.FAILS:
            trouble = StandIn("other page", f"another page stands in its place: {swap.stand_in}")
            return ChangeVerdict("held", memory, None, None, 0.0, f"Not the page: {trouble}.", trouble=trouble)
        case swaps.SwapReaction.TELL:
            return _moved_verdict(memory, check, swap)


def _moved_verdict(memory: PageMemory, check: _Check, swap: swaps.PageSwap) -> ChangeVerdict:
    """Return the verdict on another page that has stayed: at another address, or behind a login, it has moved."""
    seen, address = check.reading.evidence, check.address if swap.moved() else ""
    target = seen.refresh_to if seen.leads_away else address
    # A held page's differences are old: its blocks have lasted since, and the missing ones have been absent.
    looks = max(memory.held.looks, memory.held.away)
    waits = {key: max(looks, stood) for key, stood in check.known.waits.items()}
    absent = {key: max(looks, stood) for key, stood in check.known.absent.items()}
    verdict = _decide(memory, replace(check, known=replace(check.known, waits=waits, absent=absent)))
    if verdict.delta and swap.stand_in == swaps.LOGIN:
        # The next checks fail, because a login is not the page; its return is reported.
        memory = replace(verdict.memory, face=replace(verdict.memory.face, says=swap.stand_in))
        return replace(verdict, kind="moved", moved_to=target, memory=memory, reason=f"Reported once: {_BEHIND}.")
    return replace(verdict, kind="moved", moved_to=target) if verdict.delta and target else verdict


def content_of(reading: PageReading, told: frozenset[str] = frozenset()) -> SettledState:
    """Return the blocks outside furniture, or all if there are no others. told: keys of the reported blocks. If several
    of them become furniture at once, they have not gone: the same page reads differently.
    """
    traits = reading.traits or (0,) * len(reading.blocks)
    kept = [not trait & FURNITURE for trait in traits]
    if not any(kept):
        kept = [True] * len(traits)
    turned = [i for i, keeps in enumerate(kept) if not keeps and reading.keys[i] in told]
    here = set(compress(reading.keys, kept)) if len(turned) >= _TURNED else ()
    turned = [i for i in turned if reading.keys[i] not in here]
    for i in turned if len(turned) >= _TURNED else ():
        kept[i] = True
    return SettledState(
        tuple(compress(reading.blocks, kept)),
        tuple(compress(reading.keys, kept)),
        tuple(trait & ~FURNITURE for trait in compress(traits, kept)),
        tuple(compress(reading.places, kept)),
        reading.json,
    )


def _aside(reading: PageReading) -> tuple[str, ...]:
    content = {key for key, trait in zip(reading.keys, reading.traits, strict=False) if not trait & FURNITURE}
    return tuple(k for k, t in zip(reading.keys, reading.traits, strict=False) if t & FURNITURE and k not in content)


def _hold(memory: PageMemory, check: _Check) -> ChangeVerdict:
    difference = _weigh(check)
    blocks = swaps.of_blocks(difference.blocks, told=False, instead="held until it stays: the page was replaced")
    held = swaps.once_more(memory.held, check.now, check.when.at)
    reason = "Another page has replaced this one: it is reported if it stays."
    why, soon = _withheld_rows(check, blocks), held.looks < swaps.SOON
    return ChangeVerdict("held", replace(memory, held=held), None, None, 0.0, reason, why, soon=soon, unsettled=True)


def _decide(memory: PageMemory, check: _Check) -> ChangeVerdict:
    difference = _weigh(check)
    blocks, state = difference.blocks, state_of(check.now)
    score = sum(block.score for block in blocks)
    stood = {**check.known.absent, **check.known.waits}
    successors = {check.before.keys[pair.old]: pair.key for pair in difference.replaced}
    turn = turn_of(memory, blocks, successors, stood, state=state, when=check.when)
    counts = sum(block.came for block in blocks)
    reason = f"{counts} {'block' if counts == 1 else 'blocks'} came and {len(blocks) - counts} went"
    came = frozenset(block for block, stood in check.known.waits.items() if not stood)
    slots = check.made.slots
    if not check.known.chosen:
        slots = differences.slots_after(memory, difference.replaced, came, check.when.number)
    rotates = turn.rotates and not check.known.chosen
    if score >= check.bar and not rotates:
        if check.bar > sum(block.score for block in blocks if not block.doubted):
            return _hold_doubtful(replace(memory, turns=turn.turns, slots=slots), check, blocks)
        difference, waiting = as_reported(difference, check.before, check.now, check.apart, check.bar)
        blocks, score = difference.blocks, sum(block.score for block in difference.blocks)
        after = _with_old_wording(check.before, _with_old_blocks(check.before, check.now, waiting))
        where = DiffContexts(differences.StateContexts(placed(memory)), differences.StateContexts(after))
        beyond = check.before.keys[len(check.before.texts) :]
        texts = dict(zip(after.keys, after.texts, strict=True)) if beyond else {}
        told = [*check.before.texts, *(texts[key] for key in beyond if key in texts)]
        diff, delta = compare(told, after.texts, where, _omitted(memory, check, blocks))
        if diff.added or diff.removed or diff.changed:
            slots = members.as_reported(slots)
            grown = _reported_memory(memory, check, after, difference, waiting)
            grown = replace(grown, turns=turn.turns, slots=slots)
            why = _withheld_rows(check, swaps.of_blocks(blocks, told=True))
            found = ChangeVerdict("changed", grown, diff, delta, score, f"{reason}.", why, swaps.counted(blocks))
            return replace(found, reverted=turn.reverted, unsettled=bool(waiting))
        reason += ", with the same texts"
    instead = "it alternates with the earlier text; reported if it lasts" if rotates else ""
    why = _withheld_rows(check, swaps.of_blocks(blocks, told=False, instead=instead))
    turns = turn.turns if rotates or not turn.reverted else memory.turns
    grown = replace(_pending_memory(memory, check, _ticker_shapes(check)), held=HeldPage(), slots=slots, turns=turns)
    unsettled = rotates or check.made.waits or any(block.waits for block in blocks)
    reason += f": {instead or 'not news'}."
    return ChangeVerdict("churn", grown, None, None, score, reason, why, unsettled=unsettled)


def _hold_doubtful(memory: PageMemory, check: _Check, blocks: Sequence[WeighedBlock]) -> ChangeVerdict:
    instead = "a second check decides: a text replaced another"
    why = _withheld_rows(check, swaps.of_blocks(blocks, told=False, instead=instead))
    doubts = min(memory.doubts + 1, _MOST_DOUBTS)
    grown = replace(_pending_memory(memory, check, _ticker_shapes(check)), held=HeldPage(), doubts=doubts)
    reason = "A text replaced another, as on pages that show one of many: another check follows soon."
    return ChangeVerdict("held", grown, None, None, 0.0, reason, why, soon=memory.doubts < _MOST_DOUBTS, unsettled=True)


def _with_old_blocks(before: SettledState, now: SettledState, places: Mapping[int, int]) -> SettledState:
    """Return the new state with the old blocks of replacements that wait: positions before, by position now."""
    if not places:
        return now
    texts, keys, traits = list(now.texts), list(now.keys), list(now.traits)
    for new, old in places.items():
        texts[new], keys[new], traits[new] = before.texts[old], before.keys[old], before.traits[old]
    return replace(now, texts=tuple(texts), keys=tuple(keys), traits=tuple(traits))


def _reported_memory(
    memory: PageMemory, check: _Check, after: SettledState, difference: WeighedDifference, waiting: Mapping[int, int]
) -> PageMemory:
    """Return the memory of a newly reported state; its blocks are no longer known as churn."""
    came = {key: check.pending.came[key] for key in (check.now.keys[i] for i in waiting)}
    missing = {key: check.pending.missing[key] for key in (check.before.keys[i] for i in waiting.values())}
    fresh = {block.key for block in difference.blocks if block.came and block.key not in came}
    went = [block.key for block in difference.blocks if not block.came and block.key not in missing]
    known = [key for key in check.recent if key not in fresh]
    recent = _append_new(known, check.aside, check.pending.flickered, _ticker_shapes(check))
    state = state_of(after)
    return replace(
        with_pending(pack(after, recent, state), PendingDifferences(came, missing, ())),
        states=with_state(memory.states, state),
        gone=packed_recent([*unpack_keys(memory.gone), *went], MOST_GONE),
        face=check.face,
        told=check.when.number - _checks_lasted(check, difference),
        looks=memory.looks,
        began=memory.began,
        told_at=check.when.at,
    )


def _checks_lasted(check: _Check, difference: WeighedDifference) -> int:
    """Return how many checks before this one all weighty blocks have lasted; a box that waited was already there. A
    replacing text must last again from now: rotating texts also last for some checks.
    """
    if any(pair.what == "words" for pair in difference.replaced):
        return 0
    stood = {**check.known.absent, **check.known.waits}
    return min((stood.get(block.key, 0) for block in difference.blocks if block.score >= MINOR), default=0)


def _pending_memory(memory: PageMemory, check: _Check, shaped: Sequence[str]) -> PageMemory:
    """Return the memory after a check without a report: pending blocks wait; blocks that came and went are churn."""
    aside = check.aside if shaped or check.apart.came.positions else ()
    recent = _append_new(check.recent, aside, check.pending.flickered, shaped)
    grown = with_pending(memory, check.pending)
    return grown if len(recent) == len(check.recent) else replace(grown, recent=packed_recent(recent))


def _ticker_shapes(check: _Check) -> list[str]:
    return [*differences.shapes(check.now, check.apart.came), *differences.shapes(check.before, check.apart.went)]


def _weigh(check: _Check) -> WeighedDifference:
    difference = weighed(check.before, check.now, check.apart, check.known)
    if check.narrowed or check.reading.json:
        return difference
    untold = check.known.recent.union(check.pending.flickered)
    is_early = check.known.age <= swaps.EARLY
    around = swaps.BoxContext(check.before, check.now, check.apart, check.face.title, untold, is_early)
    return swaps.weighed_boxes(difference, around, check.known)


def _withheld_rows(check: _Check, blocks: Sequence[Withheld]) -> tuple[Withheld, ...]:
    reading, known = check.reading, frozenset(check.recent).union(check.before.keys)
    return swaps.capped(blocks, swaps.masked(check.before, check.now), swaps.furniture(reading, known))


def _append_new(recent: Sequence[str], *others: Sequence[str]) -> list[str]:
    known = frozenset(recent)
    return [*recent, *(key for keys in others for key in keys if key not in known)]


def _with_old_wording(before: SettledState, now: SettledState) -> SettledState:
    """Return the new state with the old wording where only masked parts differ: reports do not include them."""
    same = frozenset(before.texts)
    masked = {key for key, text in zip(now.keys, now.texts, strict=True) if text not in same}.intersection(before.keys)
    if not masked:
        return now
    worded: dict[str, list[str]] = {}
    for key, text in zip(reversed(before.keys[: len(before.texts)]), reversed(before.texts), strict=True):
        if key in masked:
            worded.setdefault(key, []).append(text)
    texts = tuple(worded[key].pop() if worded.get(key) else text for key, text in zip(now.keys, now.texts, strict=True))
    return replace(now, texts=texts)


def _omitted(memory: PageMemory, check: _Check, blocks: Sequence[WeighedBlock]) -> OmittedTexts:
    """Return the texts without weight, hidden from readers, and those with a new owner."""
    weighty = {(block.text, block.came) for block in blocks if block.score}
    silent = {(block.text, block.came) for block in blocks} - weighty
    moved = differences.steps_of(placed(memory), check.now, check.apart) if any(check.apart.moved) else ()
    went, came = (frozenset(text for text, has_come in silent if has_come == side) for side in (False, True))
    return OmittedTexts(went, came, moved)


def valid_digests(memory: PageMemory | None, asked: PageRequest) -> bytes:
    """Return the digests of the last check if they are of this memory and these settings, else b""."""
    if memory is None or asked.memory is None or not asked.last:
        return b""
    return asked.last if asked.last[_STATE] == _state(memory, asked.memory, asked) else b""


def known_verdict(memory: PageMemory | None, opened: OpenedPage, last: bytes) -> ChangeVerdict | None:
    """Return the verdict on a page seen before; None if it must be judged. last: valid digests of the last check."""
    if memory is None or not last:
        return None
    if opened.root is not None and opened.rough != last[_ROUGH] and _rows(opened) != last[_ROWS]:
        return None
    digests = last if opened.root is None else _packed(opened, last[_ROWS], last[_STATE])
    return ChangeVerdict("unchanged", memory, None, None, 0.0, UNCHANGED, digests=digests)


def last_digests(
    before: PageMemory | None, verdict: ChangeVerdict, opened: OpenedPage, blocks: Blocks, asked: PageRequest
) -> bytes:
    """Return digests for the next check; b"" if that may end otherwise on the same page."""
    memory = verdict.memory
    if verdict.kind == "held" or verdict.unsettled or blocks.partial or not asked.number or not opened.watched:
        return b""
    # On a page of few words, more than its blocks decides whether it is the page at all.
    if not _is_sure(memory) or not memory.keys or (asked.selector is None and not is_ample(blocks)):
        return b""
    if memory.pending or memory.missing:
        latest = max(memory.told, *memory.since, *memory.absent)
        if memory != before or memory.turns or asked.number - latest < _LONGEST_WAIT:
            return b""
    return _packed(opened, _rows(opened), _state(memory, encode(memory), asked))


def _packed(opened: OpenedPage, rows: bytes, state: bytes) -> bytes:
    return opened.bare.ljust(_SIZE, b"\0") + opened.rough + rows + state


def _rows(opened: OpenedPage) -> bytes:
    """Hash everything of a page that a judgement reads."""
    head = opened.head
    declared = evidence_of(opened.root, _NO_BLOCKS), head.written, head.title
    return hashlib.blake2b(opened.seen + msgpack.encode(declared), digest_size=_SIZE).digest()


def _state(memory: PageMemory, stored: bytes, asked: PageRequest) -> bytes:
    """Hash what a verdict depends on apart from the page. Without differences, no setting matters."""
    inputs: list[object] = [asked.url, asked.selector, asked.ignore, asked.was]
    if memory.pending or memory.missing:
        inputs += [asked.at // _DAY, asked.shared, asked.noise, asked.bar]
    return hashlib.blake2b(stored + msgpack.encode(inputs), digest_size=_SIZE).digest()


def _is_sure(memory: PageMemory) -> bool:
    return not (memory.doubts or memory.face.says) and memory.held == HeldPage()
