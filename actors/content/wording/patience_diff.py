"""The difference of two sequences, around their longest common run of unique elements.

Patience diff (Bram Cohen): elements that occur once on both sides are anchors; their longest increasing subsequence is
kept, and the gaps in between are processed recursively. Each level is O(n log n) and the number of levels is bounded,
so a hostile page costs no more than a long one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from operator import lt

_LEVELS = 12
_STRETCH = 32

Gap = tuple[int, int, int, int]
"""A span of old elements [a, b) that became a span of new ones [c, d)."""


def gaps(before: Sequence[str], after: Sequence[str]) -> list[Gap]:
    """Return the gaps between common elements, in reading order; no gap is empty on both sides."""
    before, after = tuple(before), tuple(after)
    done: list[Gap] = []
    waiting = [(0, len(before), 0, len(after), _LEVELS)]
    while waiting:
        a, b, c, d, levels = waiting.pop()
        # Most elements are equal, and slices compare faster than single elements.
        while before[a : min(b, a + _STRETCH)] == after[c : min(d, c + _STRETCH)] and a < b and c < d:
            a, c = min(b, a + _STRETCH), min(d, c + _STRETCH)
        while a < b and c < d and before[a] == after[c]:
            a, c = a + 1, c + 1
        while a < b and c < d and before[b - 1] == after[d - 1]:
            b, d = b - 1, d - 1
        anchors = _anchors(before, after, (a, b, c, d)) if levels and a < b and c < d else []
        if not anchors:
            if a < b or c < d:
                done.append((a, b, c, d))
            continue
        edges = [(a - 1, c - 1), *anchors, (b, d)]
        waiting += [(i + 1, k, j + 1, m, levels - 1) for (i, j), (k, m) in pairwise(edges) if k > i + 1 or m > j + 1]
    return sorted(done)


def _anchors(before: Sequence[str], after: Sequence[str], gap: Gap) -> list[tuple[int, int]]:
    """Return the longest run, in order on both sides, of elements that are unique on both sides of a gap."""
    a, b, c, d = gap
    old, new = Counter(before[a:b]), Counter(after[c:d])
    place = {text: j for j, text in enumerate(after[c:d], c) if new[text] == 1}
    common = [(i, place[text]) for i, text in enumerate(before[a:b], a) if old[text] == 1 and text in place]
    places = [j for _, j in common]
    if all(map(lt, places, places[1:])):
        return common  # the usual case: common elements are in the same order
    tails: list[int] = []
    ends: list[int] = []
    back: list[int] = []
    for n, j in enumerate(places):
        at = bisect_left(tails, j)
        back.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            ends.append(n)
        else:
            tails[at], ends[at] = j, n
    run: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        run.append(common[n])
        n = back[n]
    return run[::-1]
