"""The confirmation of a deletion by typing a word."""

from __future__ import annotations

from api.dashboard.forms import Form, Wrong
from api.dashboard.language.speaking import say


class Deletion(Form, frozen=True, kw_only=True):
    """The word typed to confirm a deletion."""

    confirm: str = ""


def check_confirmed(form: Deletion) -> None:
    if form.confirm.strip().casefold() not in ("delete", say("delete")):
        raise Wrong(confirm=say("Type the word %(word)s; nothing was deleted.", word=say("delete")))
