"""The sources of settings: flags, then `SANDERLING_*`, then a TOML file, then the defaults.

Only this module reads the environment and configuration files. Each setting has one name, also those of extras:
`cadence_floor` is `--cadence-floor`, `SANDERLING_CADENCE_FLOOR` and, in the file, `cadence_floor = 60`. Unknown names
are errors: a misspelt limit that silently has no effect is worse than a refusal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Any

from actors.errors import did_you_mean
from actors.setting_table import declared, declared_as, with_values
from actors.settings import Setting, Settings
from sanderling import __version__
from sanderling.exits import CommandFailed, Exit

PREFIX = "SANDERLING_"
FILE_NAME = "sanderling.toml"
BESIDE = {
    "SANDERLING_CONFIG": "The TOML file to read; `--config` names it too. Else the data folder's own, if there is one.",
    "SANDERLING_MASTER_KEY_FILE": "The file of the master key that seals secrets (mode 0600); see docs/security.md.",
    "SANDERLING_MASTER_KEY": "The master key itself; else systemd's credential, else the data folder's own.",
    "SANDERLING_URL": "A service elsewhere that commands ask, with a key; else the one on the data folder, without.",
    "SANDERLING_SECRET": "The webhook secrets of `listen`, `verify` and `probe`; `--secret-file` names a file of them.",
    "SANDERLING_KEY": "The API key that commands use; `--key-file` names a file with it.",
}
"""Variables that are not service settings."""

_COMMANDS = re.compile(r"(`|[:;] |\n  )sanderling(?= [a-z])")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and each one's origin (`--port`, `SANDERLING_PORT`, a path)."""

    settings: Settings
    origins: Mapping[str, str]

    def origin(self, name: str) -> str:
        return self.origins.get(name, "default")


def environ() -> Mapping[str, str]:
    return os.environ  # noqa: TID251 - this is the one place


def machine() -> str:
    return os.uname().nodename.partition(".")[0]


def on_terminal(stream: int = 2) -> bool:
    """stream: 0 stdin, 1 stdout, 2 stderr."""
    try:
        return os.isatty(stream)
    except OSError:
        return False


def wants_colour(variables: Mapping[str, str], stream: int = 1) -> bool:
    """Return whether to colour a stream: a terminal, not dumb, without NO_COLOR (no-color.org)."""
    return on_terminal(stream) and not variables.get("NO_COLOR") and variables.get("TERM") != "dumb"


def typed(command: str, data: str = "") -> str:
    """Return a command as a person in this directory would type it for this program (and data folder)."""
    top = Path(__file__).parents[1]
    if data and not (_launcher().is_file() and Path(data).absolute() == top / "data"):  # bin/sanderling's default
        command += f" --data {quote(data)}"
    return f"{program()} {command}"


def program() -> str:
    """Return the command name that starts this program from the current directory, ready to copy."""
    if _launcher().is_file():
        return quote(os.path.relpath(_launcher()))
    started = sys.argv[0]
    if Path(started).name == "sanderling" and os.sep in started and which("sanderling") != os.path.abspath(started):
        return quote(started)
    return "sanderling"


def _launcher() -> Path:
    """Return a checkout's own launcher; installed programs have none."""
    return Path(__file__).parents[1] / "bin" / "sanderling"


def hinted(text: str) -> str:
    """Replace `sanderling` in commands with the name that works here: in backquotes, after a colon, or on indented
    lines.

    >>> hinted("None yet: `sanderling add URL`.") == f"None yet: `{program()} add URL`."
    True
    """
    return _COMMANDS.sub(lambda found: found[1] + program(), text)


def variable(name: str) -> str:
    return PREFIX + name.upper()


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def load(flags: Mapping[str, str], variables: Mapping[str, str], config: str | None = None) -> Loaded:
    """Merge flags, variables and file into settings. Raises CommandFailed (BAD_SETTING)."""
    own = (name for name in sorted(variables) if name.startswith(PREFIX) and name not in BESIDE)
    given = {_name_of(name): (variables[name], name) for name in own}
    given |= {name: (text, flag(name)) for name, text in flags.items()}
    found = {
        name: (_parse(_known(name, origin, variable), text, origin), origin) for name, (text, origin) in given.items()
    }
    named = config or variables.get("SANDERLING_CONFIG")
    if named:
        found = _from_file(Path(named)) | found
    else:
        installed = Path(__file__).parents[1] / f"sanderling-{__version__}.dist-info"
        if "data" not in found and installed.is_dir():  # by pip, pipx or uv: the program owns no folder
            from platformdirs import user_data_path  # slow, and most runs name a folder

            found["data"] = user_data_path("sanderling", appauthor=False).as_posix(), "this system's folder for data"
        folder = str(found["data"][0] if "data" in found else Settings().data)
        path = Path(folder) / FILE_NAME
        if path.is_file():
            found = _from_file(path, in_data_folder=True) | found
    try:
        settings = with_values(Settings(), **{name: value for name, (value, _) in found.items()})
    except ValueError as error:
        name = str(error).split(" ", 1)[0].rstrip(":")  # the message begins with the setting's name
        origin = found[name][1] if name in found else "default"
        raise CommandFailed(f"{error}. (from {origin})", Exit.BAD_SETTING) from None
    return Loaded(settings, {name: origin for name, (_, origin) in found.items()})


def _name_of(variable_name: str) -> str:
    name = variable_name.removeprefix(PREFIX).lower()
    return name if variable(name) == variable_name else variable_name


def _known(name: str, place: str, spelt: Callable[[str], str] = str) -> Setting:
    """Raises CommandFailed. spelt: how settings are spelt at the place that has the name."""
    with suppress(KeyError):
        return declared_as(name)
    known = [*map(spelt, declared()), *BESIDE]
    near = did_you_mean(spelt(name), known) or " `sanderling settings` lists them all."
    raise CommandFailed(f"{place}: there is no such setting.{near}", Exit.BAD_SETTING)


def _parse(item: Setting, text: str, origin: str) -> Any:
    wanted: Any = type(item.default)
    if wanted is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        value = wanted(text)
        if wanted is float and not isfinite(value):
            raise ValueError(text)
    except ValueError:
        words = {int: "a whole number", float: "a number"}[wanted]
        raise CommandFailed(f"{origin} = {text!r}: must be {words}.", Exit.BAD_SETTING) from None
    return value


def _from_file(path: Path, *, in_data_folder: bool = False) -> dict[str, tuple[Any, str]]:
    """Read a settings file. Raises CommandFailed."""
    import tomllib

    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise CommandFailed(f"{path}: cannot be read: {error.strerror}.", Exit.BAD_SETTING) from None
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        raise CommandFailed(f"{path}: is not TOML: {error}.", Exit.BAD_SETTING) from None
    found = {}
    for name, value in table.items():
        if name == "data" and in_data_folder:
            raise CommandFailed(f"{path}: data: a file in the data folder can't move it; use --data.", Exit.BAD_SETTING)
        found[name] = (_from_toml(_known(name, f"{path}: {name}"), value, path), str(path))
    return found


def _from_toml(item: Setting, value: Any, path: Path) -> Any:
    wanted: Any = type(item.default)
    if wanted is float and type(value) is int:
        return float(value)
    if wanted is tuple and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    if type(value) is wanted and (wanted is not float or isfinite(value)):
        return value
    words = {int: "a whole number", float: "a number", str: "a string in quotes", tuple: "a list of strings"}[wanted]
    raise CommandFailed(f"{path}: {item.name} = {value!r}: must be {words}.", Exit.BAD_SETTING)
