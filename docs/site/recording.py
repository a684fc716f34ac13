"""Writes docs/pictures/try.svg: what `bin/sanderling try` printed when this was run. `make recording` calls it.

The picture has no font and no script of its own, and follows the reader's light or dark preference.
"""

from __future__ import annotations

import re
import subprocess
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs/pictures/try.svg"
WIDE, CELL, LINE, EDGE, SIZE = 118, 8.0, 19, 18, 13
LEFT_OUT = re.compile(r"^(Starting a service|That was all|  \S*sanderling )")
KINDS = (("head", re.compile(r"^\d\. ")), ("came", re.compile(r"^ +\+ ")), ("went", re.compile(r"^ +- ")))
LIGHT = {
    "paper": "#f6f8fa",
    "edge": "#d0d7de",
    "ink": "#1f2328",
    "head": "#0a5c8a",
    "came": "#116329",
    "went": "#a40e26",
}
DARK = {
    "paper": "#151b23",
    "edge": "#3d444d",
    "ink": "#e6edf3",
    "head": "#79c0ff",
    "came": "#7ee787",
    "went": "#ffa198",
}
STYLE = f"""
svg {{ {"; ".join(f"--{name}: {colour}" for name, colour in LIGHT.items())} }}
@media (prefers-color-scheme: dark) {{
  svg {{ {"; ".join(f"--{name}: {colour}" for name, colour in DARK.items())} }}
}}
rect {{ fill: var(--paper); stroke: var(--edge) }}
text {{ fill: var(--ink); font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre }}
.head {{ fill: var(--head); font-weight: bold }}
.came {{ fill: var(--came) }}
.went {{ fill: var(--went) }}
"""


def recorded() -> list[str]:
    """Run the tour and return its lines, without those that say where it lies and how to go on."""
    done = subprocess.run([ROOT / "bin/sanderling", "try"], capture_output=True, text=True, check=True, timeout=120)
    text = (done.stdout + done.stderr if not done.stdout.startswith("Starting") else done.stdout).strip("\n")
    kept = [line for line in text.splitlines() if not LEFT_OUT.match(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept).strip("\n")).splitlines()


def drawn(lines: list[str]) -> str:
    """Return the picture of a terminal that shows these lines."""
    shown = [("", "$ bin/sanderling try"), ("", "")]
    for line in lines:
        kind = next((name for name, pattern in KINDS if pattern.match(line)), "")
        shown += [(kind, part) for part in _parts(line)]
    width, height = int(WIDE * CELL + 2 * EDGE), LINE * len(shown) + 2 * EDGE
    text = "\n".join(
        f'<text x="{EDGE}" y="{EDGE + LINE * number + SIZE}" class="{kind}">{escape(line)}</text>'
        for number, (kind, line) in enumerate(shown)
        if line
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">\n'
        f"<title>A recording of sanderling try</title>\n<style>{STYLE}</style>\n"
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n{text}\n</svg>\n'
    )


def _parts(line: str) -> list[str]:
    """Return a line as a terminal of this width breaks it."""
    return [line[at : at + WIDE] for at in range(0, len(line), WIDE)] or [""]


if __name__ == "__main__":
    FILE.write_text(drawn(recorded()), "utf-8")
    sys.stdout.write(f"{FILE.relative_to(ROOT)}\n")
