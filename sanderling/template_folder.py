"""The templates that this service has: those of the program, and those of the folder that its owner names."""

from __future__ import annotations

from pathlib import Path

from actors.templates.catalogue import Catalogue, built_in, with_folder
from sanderling.exits import CommandFailed, Exit


def catalogue_of(folder: str) -> Catalogue:
    """Return the built-in templates, and those of a folder if it is named. Raises CommandFailed (BAD_SETTING)."""
    if not folder:
        return built_in()
    try:
        return with_folder(Path(folder))
    except OSError as error:
        raise CommandFailed(
            f"{folder} can't be read as a folder of templates: {error.strerror or error}.", Exit.BAD_SETTING
        ) from None
