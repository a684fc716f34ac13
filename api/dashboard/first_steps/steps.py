"""The buttons of practice: change a document and await its event, make a key, wire a bin, end the practice."""

from __future__ import annotations

from actors.errors import TooSoon
from actors.practice import What
from api.dashboard.forms import Form
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import say
from api.dashboard.screen import Go, Reply, Secret, Visit
from api.operations import keys, practice

PATH = "/first-steps"


class Change(Form, frozen=True):
    """The document to change."""

    what: What = "page"


async def change(visit: Visit) -> Reply:
    """Change a document; the next page shows its event. A second press at once changes nothing, but shows it."""
    try:
        done, stored = await practice.changed(visit, visit.form.what)
    except TooSoon as error:
        await practice.settled(visit, visit.form.what, error.retry_after)
        return Go(
            f"{PATH}#noticed",
            say("This press has changed nothing: %(reason)s.", reason=translated(error.detail)),
            bad=True,
        )
    if stored is None:
        late = say("Its event has not come yet: reload this page in a moment.")
        return Go(PATH, f"{translated(done.says)} {late}", bad=True)
    return Go(f"{PATH}#noticed", translated(done.says))


async def make_key(visit: Visit) -> Reply:
    """Make a key that may read streams, and show the command with it, once."""
    views = await practice.practice(visit, start=True)
    plaintext, key = await keys.make(visit, "First steps", ("stream:read",))
    url = f"{visit.context.settings.public_url()}/v1/stream?source={views[0].source.id}"
    command = f"curl -N -H 'Authorization: Bearer {plaintext}' '{url}'"
    says = say(
        "Its key may read events and nothing else; it is %(prefix)s… among the API keys, where it can be deleted.",
        prefix=key.prefix,
    )
    return Go(PATH, secret=Secret(say("Command with a fresh key"), command, says))


async def wire(visit: Visit) -> Reply:
    """Wire a bin to practice, and trigger a delivery."""
    bin, _made = await practice.wire(visit)
    if await practice.delivered(visit, bin):
        return Go(f"/webhook-bins/{bin.id}", say("The practice page was changed, and this is the delivery of it."))
    return Go(f"/webhook-bins/{bin.id}", say("The practice page was changed; its delivery is on the way."))


async def end(visit: Visit) -> Reply:
    await practice.end(visit)
    says = say("The practice is over: its sources, its alert and its bin are deleted. Its events stay in the log.")
    return Go(PATH, says)
