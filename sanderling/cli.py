"""The table of commands. Each one imports late so that `--help` stays fast."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any

import click

from actors.extras import TABLE, extra
from actors.settings import Settings
from sanderling.commands import (
    alerts,
    backup,
    bins,
    console,
    installing,
    kinds,
    licences,
    manual,
    operating,
    publications,
    releases,
    signing,
    sources,
    standby,
    tags,
    templates,
)
from sanderling.commands import keys as api_keys
from sanderling.environment import environ, hinted, program
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import client_flags, json_flag, loaded, settings_flags
from sanderling.manual import VARIABLE

INTERRUPTED = 130
"""The exit code that shells use for Ctrl-C."""
_ALL = "sanderling.help_all"
EVERYDAY = ("host", "port", "data", "base_url", "allow_networks", "log_level")


def run(arguments: Sequence[str]) -> int:
    """Run one command line, report failures on stderr, and return the exit code."""
    try:
        return main.main(list(arguments), prog_name=program(), complete_var=VARIABLE, standalone_mode=False) or 0
    except BaseException as error:
        return _told(_innermost(error))


def _told(error: BaseException) -> int:
    """Report how a command ended and return the exit code. Our own bugs are raised again."""
    match error:
        case click.exceptions.Exit(exit_code=code):
            return int(code)
        case CommandFailed(message=message, code=code):
            click.echo(f"sanderling: {hinted(message)}", err=True)
            return code
        case click.ClickException(exit_code=code):
            error.show()
            return int(code)
        case click.Abort() | KeyboardInterrupt():
            return INTERRUPTED
        case BrokenPipeError() | SystemExit():  # `tail | head`: the reader has enough; Click reports it by an exit
            sys.stderr.close()
            return Exit.WELL
        case OSError(errno=errno.ENOSPC, filename=None):
            return _unwritable(error)
        case _:
            raise error


def _unwritable(error: OSError) -> int:
    """Report that stdout is not writable, and close it so that Python does not flush it again at exit."""
    with suppress(OSError):
        sys.stdout.close()
    click.echo(f"sanderling: the output can't be written: {error.strerror}.", err=True)
    return Exit.TRY_AGAIN


def _innermost(error: BaseException) -> BaseException:
    """Unwrap a group of one: a nursery wraps every exception that leaves it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


class Tidy(click.Command):
    """A command whose help lists only everyday settings; `--help-all` lists the rest under a second heading."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        tuning = {item.name for item in fields(Settings)} - set(EVERYDAY)
        groups: dict[str, list[tuple[str, str]]] = {"Options": [], "All other settings": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups["All other settings" if parameter.name in tuning else "Options"].append(record)
        if not ctx.meta.get(_ALL):
            del groups["All other settings"]
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _help_all(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _say_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.exit(ctx.invoke(version))


class OfAnExtra(click.Command):
    """A command that the help lists by its row in the table of extras; its extra is imported when it is typed."""

    def __init__(self, name: str, says: str, module: str) -> None:
        super().__init__(name, help=says)
        self.module = module

    def imported(self) -> click.Command:
        """Return the command itself."""
        return next(command for command in extra(self.module).commands() if command.name == self.name)


class Program(click.Group):
    """All commands. The help lists those of extras without an import."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(ctx, cmd_name)
        return found.imported() if isinstance(found, OfAnExtra) else found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        click.Group(commands=self.commands).format_commands(ctx, formatter)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_say_version,
    help="Print the version and exit.",
)
def main() -> None:
    """Turn any URL into a live, resumable, signed stream of new-content events.

    \b
    sanderling serve                       the service, on 127.0.0.1:8080
    sanderling add https://example.org/    watch a page, a feed or a WebSocket
    sanderling tail                        events as they come
    """


@main.command(cls=Tidy)
@click.option(
    "--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_help_all, help="Show every setting, too."
)
@settings_flags(*(item.name for item in fields(Settings)))
def serve(config: str | None, **flags: str | None) -> int:
    """Run the service until SIGTERM or Ctrl-C.

    \b
    sanderling serve --port 9000 --data /var/lib/sanderling
    SANDERLING_ALLOW_NETWORKS=192.168.0.0/16 sanderling serve
    """
    found = loaded(config, flags)
    from sanderling.serve import serve as run_service

    return run_service(found)


@main.group()
def keys() -> None:
    """Make, list and revoke API keys; rotate the key that signs events, and the one that seals secrets."""


keys.add_command(api_keys.create)
keys.add_command(api_keys.listed)
keys.add_command(api_keys.revoke)
keys.add_command(api_keys.delete)
keys.add_command(signing.listed)
keys.add_command(signing.rotate)
keys.add_command(signing.master)
keys.add_command(signing.rotate_master)


@main.command()
@click.option("--source", multiple=True, help="Only this source: its id, name, URL or a part of these; repeatable.")
@click.option("--source-type", multiple=True, help="Only this tier: push, feed or html; repeatable.")
@click.option("--tag", multiple=True, help="Only events with this tag; repeatable.")
@click.option("--keyword", multiple=True, help="Only events whose title or content has this; repeatable.")
@click.option("--since", help="Replay what came after this event id first; earliest: all that is kept.")
@click.option("--channel", help="Read this channel instead of the whole stream.")
@click.option("--json", "as_json", is_flag=True, help="The events as they are, one a line.")
@click.option("--count", type=click.IntRange(1), help="Stop after this many events.")
@client_flags
def tail(service: str | None, key_file: str | None, **asked: Any) -> int:
    """Print events as they come, until Ctrl-C. After a cut it goes on where it was.

    \b
    sanderling tail --source-type feed --keyword release
    sanderling tail --json --since 019a... | jq .title
    """
    from sanderling.client import terminal
    from sanderling.client.running import client_here

    return terminal.tail(client_here(service, key_file), environ(), **asked)


main.add_command(console.console)
main.add_command(sources.add)
main.add_command(sources.sources)
main.add_command(sources.coverage)
main.add_command(tags.tags)
main.add_command(alerts.alerts)
main.add_command(publications.publications)
main.add_command(bins.bins)
main.add_command(operating.status)
main.add_command(operating.health)
main.add_command(backup.backup)
main.add_command(backup.restore)
main.add_command(standby.standby)
main.add_command(backup.migrate)
main.add_command(backup.check)
main.add_command(installing.install)
main.add_command(installing.uninstall)
main.add_command(backup.doctor)
main.add_command(templates.templates)
main.add_command(kinds.kinds)


@main.command()
@click.argument("source")
@click.argument("text", default="")
@click.option("--look", is_flag=True, help="Look at it now, too, if politeness allows (needs sources:write).")
@click.option("--json", "as_json", is_flag=True, help="The service's own answer.")
@client_flags
def why(source: str, text: str, service: str | None, key_file: str | None, **asked: Any) -> int:
    """Ask why TEXT was not told of a SOURCE, named by its id, a name, its URL or a part of these.

    Without TEXT: how the last looks went, and what is in the way.

    \b
    sanderling why example.org/prices "29 euros"
    sanderling why example.org/news --look "Sunday opening"
    """
    from sanderling.client.running import client_here
    from sanderling.client.why import why as ask_why

    return ask_why(client_here(service, key_file), source, text, **asked)


@main.command("try")
@click.option("--keep", is_flag=True, help="Keep the service running until Ctrl-C, and its folder for good.")
def try_it(keep: bool) -> int:
    """See one change noticed, signed, explained and delivered, in under a minute. Needs no internet, leaves nothing."""
    from sanderling.walkthrough.tour import tour

    return tour(environ(), keep=keep)


@main.command(cls=Tidy)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The reference page of all settings.")
@settings_flags(*(item.name for item in fields(Settings)))
def settings(config: str | None, as_json: bool, as_markdown: bool, **flags: str | None) -> int:
    """Show each setting's value and where it came from, as this shell has it; and what a running service has otherwise.

    \b
    sanderling settings --data /var/lib/sanderling
    """
    from sanderling.client.running import settings_at
    from sanderling.manual import references as settings_page

    if as_markdown:
        click.echo(settings_page.as_markdown(), nl=False)
        return Exit.WELL
    found = loaded(config, flags)
    from sanderling.json_lines import shown

    click.echo(shown(settings_page.as_json(found)) if as_json else settings_page.as_text(found))
    if not as_json and (theirs := settings_at(found.settings)) is not None:
        click.echo("\n".join(settings_page.beside(found.settings, theirs)), err=True)
    return Exit.WELL


@main.command("setup-link")
@json_flag
@settings_flags("host", "port", "data", "base_url", "tls_cert", "tls_key")
def setup_link(config: str | None, *, as_json: bool, **flags: str | None) -> int:
    """Make a link that sets the dashboard's password, once; also beside a running service, and when it is forgotten.

    Whoever opens it can do everything. It is good for an hour. Using it signs everybody out. A newer link takes the
    place of an older one. It leads to where the running service says that it is, unless a flag says where.
    """
    from sanderling import keyring
    from sanderling.client.running import running_at

    settings = loaded(config, flags).settings
    told = any(text is not None for name, text in flags.items() if name != "data")
    running = None if told else running_at(settings.data)
    link = keyring.set_up_link(settings, None if running is None else running.url)
    if as_json:
        from sanderling.json_lines import print_json

        print_json({"url": link})
        return Exit.WELL
    click.echo("Open this within an hour, in a browser that reaches the service:", err=True)
    click.echo(link)
    return Exit.WELL


for _module, _row in TABLE.items():
    for _name, _says in _row.commands.items():
        main.add_command(OfAnExtra(_name, _says, _module))
main.add_command(manual.help_page)
main.add_command(manual.completion)
main.add_command(licences.licences)
main.add_command(releases.verify_release)


@main.command()
@json_flag
def version(*, as_json: bool) -> int:
    """Print the version, the build, and the schema of its data."""
    from actors.build import BUILD
    from sanderling import __version__
    from storage.sqlite.engine.migrations import STEPS

    if as_json:
        from sanderling.json_lines import print_json

        print_json({"version": __version__, "build": BUILD, "schema": len(STEPS)})
    else:
        click.echo(f"sanderling {__version__} ({BUILD}), schema {len(STEPS)}")
    return Exit.WELL
