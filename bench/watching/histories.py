"""The histories: kinds of events dealt to languages, frames and intervals between checks, deterministically.

Each check was labelled before a judge saw it. Kinds are dealt to both halves of the frames in turn, so each kind has
figures in both.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import cycle
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from bench.watching import noises
from bench.watching.changes_more import MORE
from bench.watching.documents import Doc
from bench.watching.frames import FRAMES, SEED, Frame, tuning
from bench.watching.scripts import MINUTE, Script, Step
from bench.watching.silences import SILENCES
from bench.watching.tongues import languages, tongue

COPIES_TOLD, COPIES_SILENT = 12, 10
UNDER_NOISE = 0.4
BEGIN = 1_772_438_400_000
"""2 March 2026, 08:00 UTC: the first check of the first history."""
_NOT_UNDER_NOISE = ("behind a swap", "rewritten", "moved away")


class History(Struct, frozen=True):
    """The checks of one page. tells: whether its kind contains changes to report. held_out: its misses stay unread."""

    name: str
    kind: str
    tells: bool
    lang: str
    frame: Frame
    other: Frame
    spacing: int
    begin: int
    script: Script
    held_out: bool

    def time(self, look: int, *, again: bool = False) -> int:
        return self.begin + look * self.spacing + (MINUTE if again else 0)

    def document(self, look: int, *, again: bool = False) -> Doc:
        """Return the response at this check; `again`: a minute later."""
        draw = Random(zlib.crc32(f"{self.name} {look} {again}".encode()))
        return self.script.steps[look].draw(draw, self.time(look, again=again))

    def html(self, look: int, *, again: bool = False) -> bytes:
        doc = self.document(look, again=again)
        frame = replace(self.other, filler=self.frame.filler) if doc.frame else self.frame
        return frame.render(doc).encode()


def _under(step: Step, noise: noises.Noise) -> Step:
    if step.settled is None:
        return step
    return step._replace(draw=lambda chance, at: noise(step.draw(chance, at), chance, at))


def _script(kind: str, name: str, lang: str, chance: Random) -> Script:
    tells = kind in MORE
    script = (MORE if tells else SILENCES)[kind](tongue(lang), chance)
    if not tells or kind in _NOT_UNDER_NOISE or chance.random() >= UNDER_NOISE:
        return script
    noise = noises.NOISES[chance.choice(noises.BACKGROUND)](tongue(lang), chance)
    return script._replace(steps=tuple(_under(step, noise) for step in script.steps))


def histories() -> Iterator[History]:
    deal = Random(SEED + 2)
    inner = tuning()
    tongues = [list(languages()) for _ in range(2)]
    halves = [[f for f in FRAMES if f.name in inner], [f for f in FRAMES if f.name not in inner]]
    for pile in (*tongues, *halves):
        deal.shuffle(pile)  # type: ignore[arg-type]
    next_tongues, next_frames = [cycle(pile) for pile in tongues], [cycle(half) for half in halves]
    for kind in (*MORE, *SILENCES):
        for copy in range(COPIES_TOLD if kind in MORE else COPIES_SILENT):
            half = copy % 2
            lang, frame = next(next_tongues[half]), next(next_frames[half])
            name = f"{kind}, {copy + 1}: {lang}, {frame.name}"
            chance = Random(zlib.crc32(f"{SEED} {name}".encode()))
            script = _script(kind, name, lang, chance)
            others = [other for other in halves[half] if other.shell != frame.shell]
            yield History(
                name, kind, kind in MORE, lang, frame, chance.choice(others), chance.choice(script.spacings),
                BEGIN + chance.randrange(0, 30 * 1440) * MINUTE, script, bool(half),
            )  # fmt: skip
