"""`sanderling apply`: read files and service, show the plan, execute it after a yes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from re import fullmatch
from typing import NamedTuple

import click
import msgspec
import trio

from extras.apply import planning
from extras.apply.acting import Actor, ActResult, compared, expanded, people_of, state_of, templates_of
from extras.apply.groups import BadFiles, DesiredState, State
from extras.apply.people import steps_of
from extras.apply.planning import Options, Plan, plan_of, too_many
from extras.apply.reading import MOST_FLAWS, TABLES, as_text, read_folder
from extras.apply.writing import write, written
from sanderling.client.api import Client, ServiceRefused, WaitingClient
from sanderling.client.terminal import print_json
from sanderling.environment import environ, on_terminal, wants_colour
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags
from storage.records.identity import Workspace
from storage.records.secrecy import plain

AGAIN = "Run the same command again to continue; finished steps stay."


class ApplyFlags(NamedTuple):
    """The command's flags. workspace: for a folder whose files name none."""

    only_plan: bool = False
    yes: bool = False
    exit_code: bool = False
    adopt: bool = False
    delete: bool = True
    allow_deletions: bool = False
    workspace: str | None = None
    as_json: bool = False


@click.command("apply")
@click.argument("folder", metavar="DIR", required=False)
@click.option("--plan", "only_plan", is_flag=True, help="Show the changes without making them.")
@click.option("--exit-code", is_flag=True, help="With --plan: exit code 3 if there are changes, else 0.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--adopt", is_flag=True, help="With --yes or --exit-code: take over objects that no files manage.")
@click.option("--no-delete", is_flag=True, help="Keep objects that no file has any more.")
@click.option("--allow-deletions", is_flag=True, help="Allow deleting more than a quarter of the managed objects.")
@click.option("--workspace", help="Name of the workspace, if no file sets it (default: the folder's).")
@click.option("--json", "as_json", is_flag=True, help="The plan as one object, then each act that is done.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the files, for editors, and do nothing else.")
@client_flags
def apply_folder(
    folder: str | None,
    service: str | None,
    key_file: str | None,
    *,
    only_plan: bool,
    exit_code: bool,
    yes: bool,
    adopt: bool,
    no_delete: bool,
    allow_deletions: bool,
    workspace: str | None,
    as_json: bool,
    schema: bool,
) -> int:
    """Bring the service into the state that the TOML files in DIR describe.

    They name sources, alerts, destinations, tags, publications and people. Anything that they do not name stays
    unchanged. A secret is written as a reference: { env = "NAME" }. A second run changes nothing. With --url the key
    needs sources:read, sources:write, alerts:read, alerts:write, publications:read, publications:write and stream:read,
    for people also admin.
    Exit code: 0 done, 1 something is invalid or was refused.

    \b
    sanderling apply --plan watch/
    sanderling apply --yes watch/
    sanderling export --as-config watch/
    """
    if schema:
        click.echo(as_text(), nl=False)
        return Exit.WELL
    if folder is None:
        raise CommandFailed("Name the folder of the files: sanderling apply DIR.", Exit.USAGE)
    if not Path(folder).is_dir():
        raise CommandFailed(f"{folder}: there is no such folder.", Exit.USAGE)
    if only_plan and yes:
        raise CommandFailed("--plan and --yes exclude each other.", Exit.USAGE)
    if exit_code and not only_plan:
        raise CommandFailed("--exit-code needs --plan.", Exit.USAGE)
    from sanderling.client.api import client_here

    asked = ApplyFlags(only_plan, yes, exit_code, adopt, not no_delete, allow_deletions, workspace, as_json)
    return apply(client_here(service, key_file), Path(folder), asked)


def apply(client: Client, folder: Path, asked: ApplyFlags) -> int:
    async def run() -> int:
        async with client:
            patient = WaitingClient(client)
            gc.disable()  # it would search all records again and again, and finds nothing
            try:
                plan = await planned(patient, folder, asked)
            finally:
                gc.enable()
            _show(plan, asked)
            _refuse(plan, asked)
            if asked.only_plan or plan.empty:
                return Exit.DIFFERS if asked.exit_code and not plan.empty else Exit.WELL
            if not _agreed(plan, client, asked):
                return Exit.WELL
            return await _done(patient, plan, asked)

    return trio.run(run)


async def planned(client: WaitingClient, folder: Path, asked: ApplyFlags) -> Plan:
    """Return the plan. Raises CommandFailed for bad files first, then for an unreachable service."""
    read: list[DesiredState | BadFiles | OSError] = []
    there: list[State | CommandFailed] = []

    async def files() -> None:
        try:
            work = partial(_read, folder, asked.workspace)
            read.append(await trio.to_thread.run_sync(work, limiter=trio.CapacityLimiter(1)))
        except (BadFiles, OSError) as error:
            read.append(error)

    async def service() -> None:
        try:
            there.append(await state_of(client))
        except CommandFailed as error:
            there.append(error)

    async with trio.open_nursery() as nursery:  # both may take a while
        nursery.start_soon(files)
        nursery.start_soon(service)
    wish, state = read[0], there[0]
    if isinstance(wish, Exception):
        raise _unreadable(folder, wish)
    if isinstance(state, Exception):
        raise state
    try:
        wish = await expanded(client, wish)
    except BadFiles as error:
        raise _unreadable(folder, error) from None
    options = Options(asked.adopt or not (asked.yes or asked.exit_code), asked.delete)  # a person sees it, and is asked
    plan = plan_of(wish, state, options)
    plan = plan_of(wish, state, options, await compared(client, plan.doubts)) if plan.doubts else plan
    return plan._replace(people=steps_of(wish.people, await people_of(client))) if wish.people else plan


def _read(folder: Path, workspace: str | None) -> DesiredState:
    name = folder.resolve().name.lower()
    return read_folder(folder, environ(), workspace, called=name if fullmatch("[a-z0-9][a-z0-9_-]{0,62}", name) else "")


def _unreadable(folder: Path, error: BadFiles | OSError) -> CommandFailed:
    if isinstance(error, OSError):
        return CommandFailed(f"{folder}: cannot be read: {error.strerror or error}.", Exit.USAGE)
    lines = [plain(str(flaw)) for flaw in error.flaws[:MOST_FLAWS]]
    more = len(error.flaws) - len(lines)
    lines += [f"and {more:,} more"] if more else []
    return CommandFailed("The files can't be applied:\n" + "\n".join(f"  {line}" for line in lines))


def _show(plan: Plan, asked: ApplyFlags) -> None:
    if asked.as_json:
        print_json(planning.as_json(plan))
        return
    for line in planning.lines_of(plan, colour=wants_colour(environ())):
        click.echo(line)


def _refuse(plan: Plan, asked: ApplyFlags) -> None:
    if plan.faults:
        faults = [plain(fault) for fault in plan.faults[:MOST_FLAWS]]
        faults += [f"and {len(plan.faults) - MOST_FLAWS:,} more"] if len(plan.faults) > MOST_FLAWS else []
        raise CommandFailed("This can't be applied:\n" + "\n".join(f"  {fault}" for fault in faults))
    says = "" if asked.allow_deletions else too_many(plan)
    if says:
        raise CommandFailed(f"{says}. Add --allow-deletions to delete them, or --no-delete to keep them.")


def _agreed(plan: Plan, client: Client, asked: ApplyFlags) -> bool:
    if asked.yes:
        return True
    if not on_terminal(0):
        raise CommandFailed("There is no terminal to confirm on: add --yes, or --plan to see the plan.", Exit.USAGE)
    return click.confirm(f"Do this at {client.called}?", default=False, err=True)


async def _done(client: WaitingClient, plan: Plan, asked: ApplyFlags) -> int:
    ends: list[ActResult] = []
    tell = _teller(ends, as_json=asked.as_json)
    try:
        await Actor(client, plan, tell).run()
    except BaseException:
        click.echo(f"{_sums(ends)} {AGAIN}", err=True)
        raise
    refused = sum(done.became == "refused" for done in ends)
    click.echo(f"{_sums(ends)}{f' {AGAIN}' if refused else ''}", err=True)
    return Exit.FAILED if refused else Exit.WELL


def _teller(ends: list[ActResult], *, as_json: bool) -> Callable[[ActResult], None]:
    def tell(done: ActResult) -> None:
        ends.append(done)
        act = done.act
        if as_json:
            print_json({"became": done.became, "kind": act.kind, "name": act.name, "says": done.says or None})
        else:
            says = f": {plain(' '.join(done.says.split()))}" if done.says else ""
            click.echo(f"{done.became:<10} {act.kind}.{plain(act.name)}{says}")

    return tell


def _sums(ends: list[ActResult]) -> str:
    names = ("made", "changed", "taken over", "deleted", "refused")
    counts = {name: sum(done.became == name for done in ends) for name in names}
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return f"{said[:1].upper()}{said[1:]}." if said else "Nothing changed."


def export_files(client: Client, folder: Path, workspace: str) -> int:
    """Write a service as files that would recreate it, for `export --as-config`. Raises CommandFailed."""
    try:
        msgspec.convert(workspace, Workspace)
    except msgspec.ValidationError:
        says = "--workspace: at most 63 of a-z, 0-9, - and _, with a letter or a digit first."
        raise CommandFailed(says, Exit.USAGE) from None

    async def read() -> State:
        async with client:
            patient = WaitingClient(client)
            state = await state_of(patient)
            try:
                people = await people_of(patient)
            except ServiceRefused as error:  # a key without `admin`, or a service without people
                if error.status not in (403, 404):
                    raise
                people = []
            return state._replace(templates=await templates_of(patient, state), people=people)

    made = written(trio.run(read), workspace)
    write(folder, made.files)
    nouns = {kind.id: kind.noun for kind in TABLES.values()}
    counts = [f"{count:,} {nouns[kind]}{'' if count == 1 else 's'}" for kind, count in made.counts.items() if count]
    click.echo(f"{folder}: written: {', '.join(counts) or 'nothing'}.", err=True)
    if made.variables:
        click.echo(f"The files name variables for the secrets: {', '.join(made.variables)}.", err=True)
    return Exit.WELL
