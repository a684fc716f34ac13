"""The settings as text, JSON, and as the reference page, which is Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from jinja2 import Environment

from actors.setting_table import declared, declared_as
from actors.settings import Settings
from sanderling.environment import BESIDE, FILE_NAME, Loaded, flag, variable


def as_text(loaded: Loaded) -> str:
    """Return one line per setting: name, value, origin."""
    rows = [(name, _text(setting.shown(loaded.settings)), loaded.origin(name)) for name, setting in declared().items()]
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{name:<{wide[0]}}  {value:<{wide[1]}}  {origin}" for name, value, origin in rows)


def beside(here: Settings, theirs: Settings) -> Iterator[str]:
    from sanderling.client.api import unlike

    others = unlike(here, theirs)
    has = "otherwise:" if others else "the same."
    yield f"These are this shell's. The service that runs on the data folder has {has}"
    for name in others:
        value = declared_as(name).value(theirs)
        yield f"  {name} = {','.join(value) if isinstance(value, tuple) else value}"


def as_json(loaded: Loaded) -> str:
    """Return a JSON object of settings, each with `value` and `from`; secrets are masked."""
    every, at = declared().items(), loaded.settings
    table = {name: {"value": setting.shown(at), "from": loaded.origin(name)} for name, setting in every}
    return json.dumps(table, indent=2)


def as_markdown() -> str:
    """Return the reference page, which depends on the table alone."""
    made = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)  # noqa: S701  # no HTML
    made.filters["number"] = lambda value: f"{value:.16g}"
    page = made.from_string(files("sanderling").joinpath("settings.md.jinja").read_text("utf-8"))
    return page.render(settings=declared().values(), file_name=FILE_NAME, beside=BESIDE, flag=flag, variable=variable)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        value = ",".join(value)
    return str(value) if value != "" else "-"
