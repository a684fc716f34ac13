"""docs/figures.md: a section per topic, with the date and commit of its own run.

`python -m bench.page` marks sections whose product has changed a lot since, and prints the command to rerun them.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from bench.one import Result, names, topic_of
from bench.topic import ROOT, Record

PAGE = ROOT / "docs" / "figures.md"
PRODUCT = ("actors", "api", "extras", "sanderling", "storage", "supervision", ":(exclude)*.md")
MOST_LINES = 2_000
STALE = f"**Stale**: more than {MOST_LINES:,} lines of the measured code have changed since.\n"
HEAD = """# Figures

`make bench PAGE=docs/figures.md` writes this page, and `make bench WHAT="log match" PAGE=docs/figures.md` two of its
sections. The limit is a peer, or the bare machinery, in the same run. The ratio is ours to the limit.
"""
COLUMNS = ("figure", "goal", "limit", "ours", "ratio", "met")
_COMMIT = re.compile(r"^Measured .* at `(\w+)`", re.M)


def section(result: Result, load: float) -> str:
    """Return a topic's section. load: the machine's, when its run began."""
    where = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    loads = f"load {load:.1f} at its start and {os.getloadavg()[0]:.1f} at its end"
    lines = [
        f"## {result.title}\n",
        f"{result.method}\n",
        f"Measured {date.today()} at {measured()} on {where}, {loads}.\n",
    ]
    if result.absent:
        lines.append(f"Rows are missing: {result.absent}.\n")
    return "\n".join([*lines, table(COLUMNS, [cells(record) for record in result.records])])


def cells(record: Record) -> list[str]:
    note = f" ({record.note})" if record.note else ""
    ratio = "" if record.ratio is None else f"{record.ratio:.2f}"
    met = ("yes" if record.met else "NO") if record.goal else ""
    return [record.figure, record.goal, record.text(record.limit), record.text(record.ours) + note, ratio, met]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (columns, ["---"] * len(columns), *rows))


def sections(text: str) -> dict[str, str]:
    """Return a page's sections by title."""
    return {part.partition("\n")[0]: f"## {part.strip()}\n" for part in re.split(r"^## ", text, flags=re.M)[1:]}


def rewritten(old: str, new: Mapping[str, str]) -> str:
    """Return the page with new sections replacing old ones."""
    return "\n".join([HEAD, *(text for _, text in sorted((sections(old) | new).items()))])


def git(*words: str) -> str:
    """Raises CalledProcessError without history, or if it does not go back far enough."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def measured() -> str:
    """Name the commit that last changed the product, and mention uncommitted changes."""
    try:
        commit = git("log", "-1", "--format=%H", "--", *PRODUCT)[:12]
        return f"`{commit}`" + (" with changes" if git("status", "--porcelain", "--", *PRODUCT) else "")
    except (OSError, subprocess.CalledProcessError):
        return "`unknown`"


def changed(commit: str, paths: Sequence[str]) -> int:
    """Return how many lines of these paths were edited since a commit. A moved file counts its edited lines."""
    fields = iter(git("diff", "--numstat", "-M", "-l0", "-z", commit, "HEAD").split("\0"))
    lines = 0
    for field in fields:
        added, deleted, name = [*field.split("\t"), "", ""][:3]
        places = [name] if name else [next(fields, ""), next(fields, "")]  # a moved file: its old and its new name
        if added.isdigit() and any(place == path or place.startswith(f"{path}/") for place in places for path in paths):
            lines += int(added) + int(deleted)
    return lines


def stale(text: str) -> Iterator[str]:
    """Yield the benchmarks whose sections are stale and not marked yet."""
    by_title = sections(text)
    for name in names():
        topic = topic_of(name)
        found = by_title.get(topic.title, STALE)
        if STALE not in found and changed(_COMMIT.findall(found)[0], topic.paths) > MOST_LINES:
            yield name


def marked(text: str, name: str) -> str:
    """Mark a benchmark's section as stale."""
    title = topic_of(name).title
    return rewritten(text, {title: sections(text)[title].replace("\nMeasured ", f"\n{STALE}\nMeasured ", 1)})


def _processor() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"), re.M)
    return found[1] if found else platform.machine()


def main() -> None:
    text = PAGE.read_text("utf-8")
    for name in stale(text):
        text = marked(text, name)
    PAGE.write_text(text, "utf-8")
    again = [name for name in names() if STALE in sections(text).get(topic_of(name).title, "")]
    print(
        f'make bench WHAT="{" ".join(again)}" PAGE=docs/figures.md' if again else "no section is stale", file=sys.stderr
    )


if __name__ == "__main__":
    main()
