"""The context of a check: settings, data folder, environment, whether a service runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from actors.settings import Settings


@dataclass(frozen=True, slots=True)
class DoctorContext:
    """running: a service answers on the folder's admin socket. offline: send nothing to the network."""

    settings: Settings
    folder: Path
    variables: Mapping[str, str]
    running: bool
    offline: bool
