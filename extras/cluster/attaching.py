"""The actors that this extra adds to the tree: the replica's shipper, the member's heartbeats, shared deliveries."""

from __future__ import annotations

from collections.abc import Sequence

from actors import BUILD
from actors.system import READY_WITHIN, System
from extras.cluster.members.membership import Membership, SharedDeliveries, SharedOwnership
from extras.cluster.replica.log import Objects
from extras.cluster.replica.shipper import Shipper
from extras.cluster.replica.shipping import shipping_of
from extras.cluster.settings import ClusterSettings
from storage.records.member import Says
from supervision import ChildSpec


def parts_of(system: System) -> Sequence[tuple[str, ChildSpec]]:
    """Return the actors, each with the sibling that it starts after."""
    parts = []
    if (shipper := _shipper(system)) is not None:
        system.storage.replica = shipper.state
        parts.append(("storage", ChildSpec("replica", shipper.run, ready_within=READY_WITHIN)))
    if isinstance(system.storage.ownership, SharedOwnership):
        parts.append(("shifts", ChildSpec("members", _membership(system, system.storage.ownership).run, shutdown=5.0)))
        shared = SharedDeliveries(system.world, system.storage, system.deliveries)
        parts.append(("deliveries", ChildSpec("shared-deliveries", shared.run)))
    return parts


def _shipper(system: System) -> Shipper | None:
    objects, settings = system.world.replica, system.settings
    if objects is None or (shipping := shipping_of(system.storage)) is None:
        return None
    assert isinstance(objects, Objects)
    return Shipper(
        system.world,
        shipping,
        objects,
        place=settings.of(ClusterSettings).replica,
        version=system.version,
        by=settings.node_name or settings.public_url(),
        superseded=system.give_way,
    )


def _membership(system: System, ownership: SharedOwnership) -> Membership:
    def says() -> Says:
        found = system.registry.overdue_monitor.last
        return Says(
            version=system.version,
            build=BUILD,
            address=system.settings.public_url(),
            sources=found.sources,
            overdue=found.overdue,
            lag=system.matcher.lag().seconds,
            streams=int(system.world.metrics.streams.value),
            role=system.settings.of(ClusterSettings).node_role,
        )

    return Membership(system.world, system.storage.members, ownership, says=says, gate=system.overseer.pause_switch)
