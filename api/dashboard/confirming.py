"""The confirmation of a deletion: a word that has to be typed."""

from __future__ import annotations

from api.dashboard.forms import Form, Wrong


class Deletion(Form, frozen=True, kw_only=True):
    """What must be typed to delete something."""

    confirm: str = ""


def check_confirmed(form: Deletion) -> None:
    """Raise Wrong unless the word was typed."""
    if form.confirm.strip().casefold() != "delete":
        raise Wrong(confirm="Type the word delete; nothing was deleted.")
