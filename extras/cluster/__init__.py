"""More than one process for a service: nodes on one PostgreSQL database, or a standby that follows a replica.

`engine.py` is the storage at the setting `storage_url`; `postgres/` runs the stores of `storage/sql` there. `members/`
gives each node its share of the work. With the setting `replica`, `replica/` ships the database's commits to a folder
or bucket, and `standby/` follows them: the command `sanderling standby`. `attaching.py` adds their actors to the tree.
Without these settings nothing of it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from actors.extras import Extra, member
from actors.extras import members as members_of  # `members` is a package in here

if TYPE_CHECKING:
    from actors.settings import Settings
    from actors.system import System
    from sanderling.engines import Engine
    from supervision import ChildSpec


def _engine(settings: Settings) -> Engine | None:
    from extras.cluster.settings import ClusterSettings

    if not settings.of(ClusterSettings).elsewhere:
        return None
    from extras.cluster.engine import PostgresEngine

    return PostgresEngine(settings)


def _ports(settings: Settings, log: Callable[..., None]) -> Mapping[str, Any]:
    from extras.cluster.settings import ClusterSettings
    from sanderling.real_world import monotonic, wall

    if settings.of(ClusterSettings).elsewhere:
        from extras.cluster.postgres.server import SharedClock

        return {"wall": SharedClock(wall, monotonic)}
    if settings.of(ClusterSettings).replica:
        from extras.cluster.replica.place import replica_of

        return {"replica": replica_of(settings, wall)}
    return {}


def _parts(system: System) -> Sequence[tuple[str, ChildSpec]]:
    if system.world.replica is None and not system.storage.ownership.shared:
        return ()
    from extras.cluster.attaching import parts_of

    return parts_of(system)


_CHECKS = "extras.cluster.checks"
EXTRA = Extra(
    commands=members_of("extras.cluster.commands", "standby"),
    checks=lambda: dict(zip(("PostgreSQL", "replica"), members_of(_CHECKS, "postgres", "replica")(), strict=True)),
    self_tests=lambda: {"PostgreSQL": member(_CHECKS, "build")()},
    engine=_engine,
    ports=_ports,
    parts=_parts,
)
