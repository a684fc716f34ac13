"""Flags shared by several commands: settings, and those that name a service and a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from msgspec import Struct, structs

from actors.setting_table import declared, declared_as
from actors.settings import Setting
from sanderling.environment import Loaded, environ, flag, load, variable
from sanderling.exits import Exit

Command = TypeVar("Command", bound=Callable[..., Any])
URL_HELP = "Address of a remote service, which needs a key.  [SANDERLING_URL]"
KEY_HELP = "File with the API key.  [default: the variable SANDERLING_KEY]"
DATA_HELP = "Data folder of the service on this machine, which needs no key.  [SANDERLING_DATA]"
_DATA = "sanderling.data"
json_flag = click.option("--json", "as_json", is_flag=True, help="As JSON; of several, an object a line.")
"""For every command that prints data; `tests/sanderling/test_json_everywhere.py` checks them all."""


def settings_flags(*names: str) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for name in reversed(names):
            command = click.option(flag(name), name, metavar="VALUE", help=_help(declared_as(name)))(command)
        return click.option("--config", metavar="FILE", help="A TOML file of settings.  [SANDERLING_CONFIG]")(command)

    return add


@cache
def all_settings() -> Sequence[click.Option]:
    """Return a flag for each setting. Those of extras need an import."""
    return [click.Option([flag(name), name], metavar="VALUE", help=_help(item)) for name, item in declared().items()]


def _help(setting: Setting) -> str:
    default = ",".join(setting.default) if isinstance(setting.default, tuple) else setting.default
    tail = f"{default} {setting.unit}".strip() or "none"
    return f"{setting.says}  [{variable(setting.name)}; default: {tail}]"


def with_settings(*names: str) -> Callable[[Callable[..., int | None]], Callable[..., int]]:
    """Add these flags, and run the command with the settings as first argument; it returns an exit code, or None."""

    def add(act: Callable[..., int | None]) -> Callable[..., int]:
        @wraps(act)
        def run(*, config: str | None, **options: Any) -> int:
            flags = {name: options.pop(name) for name in names}
            return act(loaded(config, flags).settings, **options) or Exit.WELL

        return settings_flags(*names)(run)

    return add


def field_options(declared: type[Struct], *names: str, new: bool = True) -> Callable[[Command], Command]:
    """Add an option for each declared field that has help, or for these. new: of a new record, with its defaults."""

    def add(command: Command) -> Command:
        for field in reversed(structs.fields(declared)):
            kind = next((part for part in get_args(field.type) if hasattr(part, "__metadata__")), field.type)
            metas = getattr(kind, "__metadata__", ())
            extra = {name: text for meta in metas for name, text in (meta.extra or {}).items()}
            if "help" in extra and (not names or field.name in names):
                item, many = kind.__origin__, get_origin(kind.__origin__) is tuple
                item = get_args(item)[0] if many else item
                empty = ("",) if many and not new else ()
                default = field.default if new and isinstance(field.default, str) and field.default else None
                command = click.option(
                    extra["option"] or f"--{field.name.replace('_', '-')}",
                    field.name,
                    type=click.Choice((*get_args(item), *empty)) if get_origin(item) is Literal else None,
                    multiple=many,
                    default=default,
                    show_default=default is not None,
                    help=extra["help"],
                )(command)
        return command

    return add


def loaded(config: str | None, flags: dict[str, str | None]) -> Loaded:
    """Raises CommandFailed."""
    return load({name: text for name, text in flags.items() if text is not None}, environ(), config)


def client_flags(command: Command) -> Command:
    """Add the flags for a service, a key and a data folder (see `told_folder`)."""
    data = click.option("--data", metavar="FOLDER", expose_value=False, callback=_keep_folder, help=DATA_HELP)
    command = click.option("--key-file", metavar="FILE", help=KEY_HELP)(data(command))
    return click.option("--url", "service", metavar="URL", help=URL_HELP)(command)


def _keep_folder(context: click.Context, _option: click.Parameter, folder: str | None) -> None:
    context.meta[_DATA] = folder


def told_folder() -> str | None:
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(_DATA)
