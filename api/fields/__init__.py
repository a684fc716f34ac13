"""One declaration a noun: its fields with types, bounds, defaults and words.

Requests, answers, options of commands, forms, configuration files and exports come from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from msgspec import toml

WORDS: Final[Mapping[str, str]] = toml.decode(files("api.fields").joinpath("words.toml").read_bytes())
"""Descriptions of fields that take more than a few words."""
