"""The service's catalogues: the built-in ones plus the operator's folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from actors.catalogue.catalogue import Catalogue, Named
from actors.destination_kinds.messengers import messenger as messengers
from actors.destination_kinds.messengers.messenger import Messenger
from actors.templates import catalogue as templates
from actors.templates.template import Template
from sanderling.exits import CommandFailed, Exit

N = TypeVar("N", bound=Named)


def templates_of(folder: str) -> Catalogue[Template]:
    """Raises CommandFailed (BAD_SETTING)."""
    return _read(folder, "templates", templates.built_in, templates.with_folder)


def messengers_of(folder: str) -> Catalogue[Messenger]:
    """Raises CommandFailed (BAD_SETTING)."""
    return _read(folder, "kinds of destinations", messengers.built_in, messengers.with_folder)


def _read(
    folder: str, what: str, built_in: Callable[[], Catalogue[N]], with_folder: Callable[[Path], Catalogue[N]]
) -> Catalogue[N]:
    if not folder:
        return built_in()
    try:
        return with_folder(Path(folder))
    except OSError as error:
        says = f"{folder} can't be read as a folder of {what}: {error.strerror or error}."
        raise CommandFailed(says, Exit.BAD_SETTING) from None
