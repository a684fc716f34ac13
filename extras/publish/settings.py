"""The setting of the hub."""

from __future__ import annotations

from dataclasses import dataclass

from actors.settings import ExtraSettings, networks, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishSettings(ExtraSettings):
    """The private networks that the hub's callbacks may reach."""

    hub_networks: tuple[str, ...] = setting((), check=networks, reached="called back by the hub")
