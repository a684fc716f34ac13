"""The confirmation of a deletion: a word that has to be typed."""

from __future__ import annotations

from api.dashboard.forms import Form, Wrong
from api.dashboard.language.speaking import say


class Deletion(Form, frozen=True, kw_only=True):
    """What must be typed to delete something."""

    confirm: str = ""


def check_confirmed(form: Deletion) -> None:
    """Raise Wrong unless the word was typed."""
    if form.confirm.strip().casefold() not in ("delete", say("delete")):
        raise Wrong(confirm=say("Type the word %(word)s; nothing was deleted.", word=say("delete")))
