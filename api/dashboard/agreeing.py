"""The page behind a link in a mail, to agree to mail and to stop it. The link's secret is the only credential.

Mail programs open links to scan for viruses, so only a POST changes anything (RFC 8058, 3.1). Mail services post
`List-Unsubscribe=One-Click` there themselves.
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from actors.errors import NotFound
from api.dashboard.forms import Form
from api.dashboard.language.speaking import say
from api.dashboard.screen import Page, Screen, Visit
from api.operations import destinations

PATH = "/mail/{id}/{secret}"


class Wish(Form, frozen=True, kw_only=True):
    """The choice. `one_click`: a mail service unsubscribes the reader."""

    wish: Literal["", "agree", "stop"] = ""
    one_click: str = field(name="List-Unsubscribe", default="")


async def show(visit: Visit) -> Page:
    """Ask whether to agree or to stop."""
    return await _page(visit)


async def take(visit: Visit) -> Page:
    """Apply the choice."""
    wish: Wish = visit.form
    id, secret = visit.path["id"], visit.path["secret"]
    try:
        if wish.wish == "agree":
            await destinations.agree(visit, id, secret)
        elif wish.wish == "stop" or wish.one_click == "One-Click":
            await destinations.decline(visit, id, secret)
    except NotFound:
        return _unknown()
    return await _page(visit)


async def _page(visit: Visit) -> Page:
    try:
        hook = await destinations.asked(visit, visit.path["id"], visit.path["secret"])
    except NotFound:
        return _unknown()
    alert = await visit.context.storage.alerts.get(hook.alert_id)
    stands = "asked" if not hook.confirmed else "stopped" if hook.state == "disabled" else "told"
    about = "" if alert is None else alert.name
    return Page("entry/mail.html", say("Mail from Sanderling"), {"stands": stands, "about": about, "label": hook.label})


def _unknown() -> Page:
    return Page("entry/mail.html", say("Mail from Sanderling"), {"stands": "unknown", "about": "", "label": ""}, 404)


SCREENS = (
    Screen(path=PATH, run=show, access="link"),
    Screen(method="POST", path=PATH, run=take, form=Wish, again=show, access="link"),
)
