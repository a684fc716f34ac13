"""The table of commands. Each one imports late so that `--help` stays fast."""

from __future__ import annotations

import errno
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from inspect import cleandoc
from typing import Any

import click

from actors.extras import TABLE, extra, member
from actors.setting_table import declared
from sanderling import without_unused
from sanderling.environment import hinted
from sanderling.environment import program as program_name
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import all_settings, json_flag, loaded, settings_flags

VARIABLE = "_SANDERLING_COMPLETE"  # the variable that Click reads to complete a command line of this program
INTERRUPTED = 130  # the exit code that shells use for Ctrl-C
_ALL = "sanderling.help_all"
WORDS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("sanderling.commands").joinpath("words.toml").read_text("utf-8")
)
"""The sections of the help; details and examples of commands."""
MODULES: Mapping[str, Sequence[str]] = {
    "alerts": ("alerts",),
    "backup": ("backup", "check", "doctor", "migrate", "restore"),
    "catalogues": ("kinds", "templates"),
    "history": ("coverage", "why"),
    "keys": ("keys",),
    "operating": ("console", "events", "health", "status", "tail"),
    "sources": ("add", "sources"),
    "tags": ("tags",),
}
"""The commands of each module in `sanderling.commands`."""
EVERYDAY = ("host", "port", "data", "base_url", "allow_networks", "log_level")


def run(arguments: Sequence[str]) -> int:
    try:
        return main.main(list(arguments), prog_name=program_name(), complete_var=VARIABLE, standalone_mode=False) or 0
    except BaseException as error:
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:  # a nursery wraps every exception
            error = error.exceptions[0]
        return _exit_code(error)


def _exit_code(error: BaseException) -> int:
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
            with suppress(OSError):  # else Python flushes it again at exit
                sys.stdout.close()
            click.echo(f"sanderling: could not write the output: {error.strerror}.", err=True)
            return Exit.TRY_AGAIN
        case _:
            raise error


class Tidy(click.Command):
    """A command with a flag for each setting. `--help` lists the everyday ones, `--help-all` the rest, too."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *ours, help_option = super().get_params(ctx)
        return [*ours, *all_settings(), help_option]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        tuning = declared().keys() - set(EVERYDAY)
        groups: dict[str, list[tuple[str, str]]] = {"Options": [], "All other settings": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
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


class Program(click.Group):
    """All commands. The help lists them without an import."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _late(cmd_name) if cmd_name in LATE else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, rows in WORDS["sections"].items():
            with formatter.section(title):
                formatter.write_dl([(name, says) for name, says in rows.items() if name in self.commands])


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
    sanderling tail                        events as they arrive
    """


@main.command(cls=Tidy)
@click.option(
    "--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_help_all, help="Show every setting."
)
@settings_flags()
def serve(config: str | None, **flags: str | None) -> int:
    """Run the service until SIGTERM or Ctrl-C."""
    found = loaded(config, flags)
    with without_unused():
        from sanderling.serve import serve as run_service

    return run_service(found)


def _of_extra(module: str, name: str) -> click.Command:
    return next(command for command in extra(module).commands() if command.name == name)


LATE: Mapping[str, Callable[[], click.Command]] = {
    **{name: member(f"sanderling.commands.{module}", name) for module, names in MODULES.items() for name in names},
    **{name: partial(_of_extra, module, name) for module, row in TABLE.items() for name in row.commands},
}
main.commands.update((name, click.Command(name)) for name in LATE)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the script that makes a SHELL complete commands, flags and pages. Packages install it."""
    click.echo(completion_script(shell), nl=False)
    return Exit.WELL


def completion_script(shell: str) -> str:
    """Return the script for bash, zsh or fish. It asks the program itself, so it is never out of date."""
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, shell
    # Not kind.source(): for bash it starts bash to read its version, and a build machine may lack bash.
    return ShellComplete.source(kind(main, {}, "sanderling", VARIABLE)).rstrip("\n") + "\n"


@main.command(cls=Tidy)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The reference page of all settings.")
@settings_flags()
def settings(config: str | None, as_json: bool, as_markdown: bool, **flags: str | None) -> int:
    """Show each setting's value and origin in this shell, and the values that differ in a running service."""
    from sanderling import settings_shown
    from sanderling.client.api import settings_at
    from sanderling.client.terminal import shown

    if as_markdown:
        click.echo(settings_shown.as_markdown(), nl=False)
        return Exit.WELL
    found = loaded(config, flags)
    click.echo(shown(settings_shown.as_json(found)) if as_json else settings_shown.as_text(found))
    if not as_json and (theirs := settings_at(found.settings)) is not None:
        click.echo("\n".join(settings_shown.beside(found.settings, theirs)), err=True)
    return Exit.WELL


@main.command("setup-link")
@json_flag
@settings_flags("host", "port", "data", "base_url", "tls_cert", "tls_key")
def setup_link(config: str | None, *, as_json: bool, **flags: str | None) -> int:
    """Make a link that sets the dashboard's password once, also for a running service, and if you forgot it."""
    from sanderling import keyring
    from sanderling.client.api import running_at
    from sanderling.client.terminal import print_page

    settings = loaded(config, flags).settings
    told = any(text is not None for name, text in flags.items() if name != "data")
    running = None if told else running_at(settings.data)
    link = keyring.set_up_link(settings, None if running is None else running.url)
    if not as_json:
        click.echo("Open this within an hour, in a browser that reaches the service:", err=True)
    print_page({"url": link}, lambda found: found.values(), as_json=as_json)
    return Exit.WELL


@main.command()
@json_flag
def version(*, as_json: bool) -> int:
    """Print the version, the build, and the schema of its data."""
    from actors import BUILD
    from sanderling import __version__
    from sanderling.client.terminal import print_page
    from storage.sqlite.engine import STEPS

    found = {"version": __version__, "build": BUILD, "schema": len(STEPS)}
    print_page(found, lambda _: [f"sanderling {__version__} ({BUILD}), schema {len(STEPS)}"], as_json=as_json)
    return Exit.WELL


def _complete_help(command: click.Command, path: str) -> click.Command:
    """Add details and examples to the help. Click keeps the lines of a paragraph that begins with \\b."""
    details, examples = (WORDS[part].get(path, "") for part in ("details", "examples"))
    command.help = "\n\n".join(filter(None, (cleandoc(command.help or ""), details, examples and f"\b\n{examples}")))
    for name, each in command.commands.items() if isinstance(command, click.Group) else ():
        _complete_help(each, f"{path} {name}")
    return command


for _name, _command in main.commands.items():
    if _name not in LATE:
        _complete_help(_command, _name)


@cache
def _late(name: str) -> click.Command:
    return _complete_help(LATE[name](), name)
