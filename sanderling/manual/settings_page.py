"""The table of settings: for the terminal, as JSON, and as the page docs/settings.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from actors.settings import Meaning, Settings, masked, meaning
from sanderling.client.running import unlike
from sanderling.environment import BESIDE, FILE_NAME, Loaded, flag, variable

INTRODUCTION = f"""# Settings

Look up each setting. It has three names: the flag of `sanderling serve`, the environment variable, and the key in a
TOML file: `--config`, `SANDERLING_CONFIG`, or `{FILE_NAME}` in the data folder. A flag overrides a variable, a variable
the file, the file the default. Unknown names are errors. `sanderling settings` prints each value and its origin.

This page is generated: `sanderling settings --markdown > docs/settings.md`.
"""


def as_text(loaded: Loaded) -> str:
    """Return one line per setting: name, value, origin; then messages for retired settings."""
    rows = [(name, _shown(loaded, name), loaded.origins[name]) for name in loaded.origins]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    table = [f"{name:<{wide[0]}}  {value:<{wide[1]}}  {origin}" for name, value, origin in rows]
    return "\n".join([*table, *loaded.retired])


def beside(here: Settings, theirs: Settings) -> Iterator[str]:
    """Yield the settings that differ between the running service and this shell."""
    others = [item.name for item in fields(Settings) if item.name in unlike(here, theirs)]
    yield "These are this shell's. The service that runs on the data folder has " + (
        "otherwise:" if others else "the same."
    )
    for name in others:
        value = getattr(theirs, name)
        yield f"  {name} = {','.join(value) if isinstance(value, tuple) else value}"


def as_json(loaded: Loaded) -> str:
    """Return a JSON object of settings, each with `value` and `from`; secrets are masked."""
    table = {name: {"value": masked(loaded.settings, name), "from": loaded.origins[name]} for name in loaded.origins}
    return json.dumps(table, indent=2)


def as_markdown() -> str:
    """Return the reference page, which depends on the table alone."""
    lines = [INTRODUCTION, "| Setting | Default | Bounds | Meaning |", "|---|---|---|---|"]
    for item in fields(Settings):
        says = meaning(item)
        names = f"`{item.name}` <br> `{flag(item.name)}` <br> `{variable(item.name)}`"
        lines.append(f"| {names} | {_default(item.default, says)} | {_bounds(says)} | {says.says} |")
    lines += ["", "Other environment variables:", "", "| Variable | Meaning |", "|---|---|"]
    lines += [f"| `{name}` | {says} |" for name, says in BESIDE.items()]
    return "\n".join(lines) + "\n"


def _shown(loaded: Loaded, name: str) -> str:
    value = masked(loaded.settings, name)
    if isinstance(value, tuple):
        value = ",".join(value)
    return str(value) if value != "" else "-"


def _default(value: Any, says: Meaning) -> str:
    if value in ("", ()):
        return "none"
    if isinstance(value, tuple):
        value = ",".join(value)
    return f"`{value}`" + (f" {says.unit}" if says.unit else "")


def _bounds(says: Meaning) -> str:
    if says.low is None or says.high is None:
        return ""
    return f"{_number(says.low)} to {_number(says.high)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
