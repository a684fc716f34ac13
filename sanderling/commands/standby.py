"""`sanderling standby`: a second machine that can take over."""

from __future__ import annotations

from pathlib import Path

import click

from sanderling.environment import environ


@click.command()
@click.option("--from", "replica", required=True, metavar="FOLDER", help="The replica, as the service names it.")
@click.option("--data", metavar="FOLDER", help="The data folder, empty at first.  [SANDERLING_DATA; default: data]")
@click.option("--once", is_flag=True, help="Catch up once, say how far it is, and end: exit code 0 when up to date.")
@click.option("--take-over", "now_take_over", is_flag=True, help="Become the service: the other one is told to stop.")
@click.option(
    "--unreachable", is_flag=True, help="Take over although the other can't be told: be sure that it does not run."
)
def standby(replica: str, data: str | None, *, once: bool, now_take_over: bool, unreachable: bool) -> int:
    """Keep a copy of another machine's service in a data folder, and take over when asked.

    The other service writes its database to a folder that both reach (its setting `replica`). The master key is not
    in it: put the same one here, or a take-over is refused. See docs/standby.md.

    \b
    sanderling standby --from /mnt/standby --data /var/lib/sanderling
    sanderling standby --from /mnt/standby --data /var/lib/sanderling --take-over
    """
    import trio

    from actors.settings import Settings
    from sanderling.exits import CommandFailed, Exit
    from sanderling.operations.standby.running import follow, take_over_now
    from sanderling.real_world import now

    variables = environ()
    folder = Path(data or variables.get("SANDERLING_DATA") or Settings().data)
    if unreachable and not now_take_over:
        raise CommandFailed("--unreachable is for --take-over.", Exit.USAGE)

    def tell(says: str) -> None:
        click.echo(says, err=True)

    async def run() -> int:
        if now_take_over:
            return await take_over_now(Path(replica), folder, variables, now=now, tell=tell, unreachable=unreachable)
        return await follow(Path(replica), folder, variables, now=now, tell=tell, once=once)

    return trio.run(run)
