"""`sanderling standby`."""

from __future__ import annotations

from pathlib import Path

import click

from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import loaded, settings_flags


@click.command()
@click.option("--from", "replica", metavar="PLACE", help="The replica, unless the setting `replica` names it.")
@click.option("--once", is_flag=True, help="Catch up once, print the position, and end: exit code 0 when up to date.")
@click.option("--take-over", "now_take_over", is_flag=True, help="Become the service, and stop the other one.")
@click.option("--unreachable", is_flag=True, help="Take over without stopping the other: be sure that it does not run.")
@settings_flags("data", "replica_endpoint", "replica_region", "replica_credentials")
def standby(
    config: str | None, replica: str | None, *, once: bool, now_take_over: bool, unreachable: bool, **flags: str | None
) -> int:
    """Keep a copy of another machine's service in a data folder, and take over on request.

    The other service writes its database to a place that both reach (its setting `replica`): a folder, or a bucket.
    The copy has no master key: put the same one here, or a take-over is refused. See docs/standby.md.

    \b
    sanderling standby --from /mnt/standby --data /var/lib/sanderling
    sanderling standby --from /mnt/standby --data /var/lib/sanderling --take-over
    """
    import trio

    from extras.cluster.replica.place import replica_of
    from extras.cluster.settings import ClusterSettings
    from extras.cluster.standby import follow, take_over_now
    from sanderling.real_world import now, wall

    settings = loaded(config, flags | {"replica": replica}).settings
    if not settings.of(ClusterSettings).replica:
        raise CommandFailed("Name the replica: --from FOLDER, or the setting `replica`.", Exit.USAGE)
    if unreachable and not now_take_over:
        raise CommandFailed("--unreachable needs --take-over.", Exit.USAGE)

    def tell(says: str) -> None:
        click.echo(says, err=True)

    async def run() -> int:
        objects, data, variables = replica_of(settings, wall), Path(settings.data), environ()
        try:
            if now_take_over:
                return await take_over_now(objects, data, variables, now=now, tell=tell, unreachable=unreachable)
            return await follow(objects, data, variables, now=now, tell=tell, once=once)
        finally:
            with trio.move_on_after(5, shield=True):
                await objects.aclose()

    return trio.run(run)
