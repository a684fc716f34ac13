"""Every setting by its name: the product's, and those that extras declare."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from actors.extras import setting_records
from actors.settings import Setting, Settings, declared_in


@cache
def declared() -> Mapping[str, Setting]:
    records: Sequence[Any] = (Settings, *setting_records())
    return {name: setting for record in records for name, setting in declared_in(record).items()}


def declared_as(name: str) -> Setting:
    """Return a setting; one of the product needs no import of an extra. Raises KeyError."""
    return declared_in(Settings).get(name) or declared()[name]


def with_values(settings: Settings, **values: Any) -> Settings:
    """Return settings with other values. Raises KeyError, ValueError."""
    given = defaultdict[type[Any], dict[str, Any]](dict)
    for name, value in values.items():
        given[declared_as(name).record][name] = value
    ours = given.pop(Settings, {})
    others = {record: replace(settings.of(record), **found) for record, found in given.items()}
    return replace(settings, **ours, extras={**settings.extras, **others})
