"""The doctor's context: settings, data folder, environment, and whether a service runs on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from actors.settings import Settings


@dataclass(frozen=True, slots=True)
class DoctorContext:
    """`running`: whether a service answers on the folder's admin socket. `offline`: ask nothing of the network."""

    settings: Settings
    folder: Path
    variables: Mapping[str, str]
    running: bool
    offline: bool
