"""The line below a found URL that starts an alert: the condition, and the destination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple
from urllib.parse import urlencode

from msgspec import Meta, Struct, structs

from actors.destination_kinds.kind import DestinationKind
from actors.errors import DomainError
from actors.language.sentences import translated
from actors.language.speaking import noted, say
from actors.messages.requests import FoundValue
from api.dashboard.forms import InvalidForm, wrong_of
from api.dashboard.screen import Go, Secret, Visit
from api.fields import alerts as wire
from api.fields.destinations import HookUrl, NewDestination
from api.nouns import alerts, bins, destinations
from api.problems import Refusal
from storage.records.destination import WEBHOOK

MODE_WORDS = {"instant": noted("at once"), "15min": noted("every 15 min")}
MODE_WORDS |= {"hourly": noted("hourly"), "daily": noted("daily")}
BIN = noted("Test inbox")  # the label of a bin created for an alert
_CHECKED = noted(
    "Your receiver checks each delivery's webhook-signature with it. Keep it where the receiver can read it."
)


def signing_secret(label: str, secret: str) -> Secret:
    return Secret(say("Signing secret of %(name)s", name=label), secret, say(_CHECKED))


class ConditionChoice(NamedTuple):
    """A choice of `when`. query: with a place for the typed text, if it asks for one."""

    words: str
    query: str

    @property
    def asks(self) -> bool:
        return "{}" in self.query


WhenName = Literal["", "any", "below", "above", "falls", "stock", "version", "words", "query"]
WHENS: Final[Mapping[WhenName, ConditionChoice]] = {
    "any": ConditionChoice(noted("anything changes"), ""),
    "below": ConditionChoice(noted("a price is below"), "price<{}"),
    "above": ConditionChoice(noted("a price is above"), "price>{}"),
    "falls": ConditionChoice(noted("a price falls by"), "price.drop>={}"),
    "stock": ConditionChoice(noted("it is in stock"), "availability:in_stock"),
    "version": ConditionChoice(noted("there is a new version"), "kind:version"),
    "words": ConditionChoice(noted("the change has these words"), "{}"),
    "query": ConditionChoice(noted("this query matches"), "{}"),
}
MOST_VALUES: Final = 6
OF_VALUES: Final = ("below", "above", "falls")
MOST_PLACES: Final = 50
_LIKELY: Final[Mapping[str, WhenName]] = {"money": "below", "availability": "stock", "version": "version"}
"""The choice that a page's first value of a type suggests."""


class StartFields(Struct, frozen=True, kw_only=True):
    """The fields of the line. when: empty to watch only. which: the condition that names one of several prices.
    deliver: a destination's id, a kind of destinations, "url" for a webhook, "bin" or "later". url: of a new one.
    """

    when: WhenName = ""
    which: Annotated[str, Meta(max_length=300)] = ""
    than: Annotated[str, Meta(max_length=500)] = ""
    deliver: Annotated[str, Meta(max_length=40)] = "later"
    url: HookUrl | None = None


def query_of(form: Any) -> str:
    """Return the query of a form with the fields of `StartFields`. Raises InvalidForm."""
    chosen = WHENS[form.when]
    if chosen.asks and not form.than:
        raise InvalidForm(than=say("Fill in this field."))
    is_value = form.when in OF_VALUES
    query = chosen.query.format(form.than.replace(" ", "") if is_value else form.than)
    try:
        alerts.check_query(query, "en")
    except Refusal as refusal:
        says = say("Enter an amount, such as 300.") if is_value else " ".join(wrong_of(refusal).errors.values())
        raise InvalidForm(than=says) from None
    which = getattr(form, "which", "")  # the form of an alert does not ask
    return f"{which} {query}".strip() if is_value else query


def in_words(query: str) -> str:
    """Return a query as a sentence if it is one of the choices, else "".

    >>> in_words("price<300"), in_words("kind:version"), in_words("kettle")
    ('a price is below 300', 'there is a new version', '')
    """
    for when in WHENS.values():
        head = when.query.partition("{}")[0]
        if head and (query.startswith(head) and " " not in query if when.asks else query == head):
            return f"{say(when.words)} {query.removeprefix(head)}".strip()
    return ""


async def recipients(visit: Visit) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """Return the choices of `deliver` in groups: value, words, and whether it needs an address."""
    mine = dict[object, tuple[str, str, bool]]()
    for known in await visit.context.storage.alerts.destinations():
        kind = visit.context.kinds.get(known.kind)
        name = known.label if kind is None or known.kind == WEBHOOK else f"{translated(kind.label)}: {known.label}"
        mine.setdefault((known.kind, known.url, *known.options.items()), (known.id, name, False))
    kinds = [(kind.id, translated(kind.label), has_address_only(kind)) for kind in visit.context.kinds.values()]
    kinds = [("url" if kind[0] == WEBHOOK else kind[0], *kind[1:]) for kind in kinds]
    return [
        ("", [("later", say("nobody yet"), False)]),
        (say("Your destinations"), [*mine.values()][:MOST_PLACES]),
        (say("A new one"), [*sorted(kinds, key=lambda kind: kind[1].casefold()), ("bin", say(BIN), False)]),
    ]


def has_address_only(kind: DestinationKind) -> bool:
    return not kind.address.default and not any(field.required and not field.default for field in kind.fields)


def suggested(values: Sequence[FoundValue]) -> StartFields:
    for type, when in _LIKELY.items():
        if found := next((value for value in values if value.type == type), None):
            return StartFields(when=when, than=found.value if type == "money" else "")
    return StartFields()


def telling(values: Sequence[FoundValue]) -> list[FoundValue]:
    """Return the values to show: prices and states first, bare numbers only on a page without prices."""
    is_shop = any(value.type == "money" for value in values)
    shown = [value for value in values if value.type != "number" or value.path or not is_shop]
    return sorted(shown, key=lambda value: value.type not in _LIKELY)[:MOST_VALUES]


def prices(values: Sequence[FoundValue]) -> list[tuple[str, str]]:
    """Return the prices to choose from, each with the condition that names it; none for a single price."""
    found = {}
    for value in values:
        name = value.path or value.label
        if value.type == "money" and name and '"' not in name:
            found[f'{"path" if value.path else "label"}:"{name}"'] = f"{name}: {value.text}"
    return [("", say("any price")), *found.items()] if len(found) > 1 else []


async def check_address(visit: Visit, deliver: str, url: str | None) -> None:
    """Refuse a missing or invalid address before anything is created. Raises InvalidForm."""
    kind = visit.context.kinds.get(WEBHOOK if deliver == "url" else deliver)
    if kind is None or not has_address_only(kind):
        return
    if url is None:
        raise InvalidForm(url=say("Enter the address, or choose another way."))
    await destinations.admitted(visit, kind, url)


async def deliver(visit: Visit, form: Any, new: wire.NewAlert, *, there: str = "") -> Go:
    """Make an alert and its destination, which the form's `deliver` and `url` say. there: the page to show then."""
    to = WEBHOOK if form.deliver == "url" else form.deliver
    standing = {known.id for known in await visit.context.storage.alerts.destinations()}
    new = structs.replace(new, default_destinations=to == "later", destination_ids=(to,) if to in standing else ())
    alert = await alerts.add(visit, new)
    there = there or f"/alerts/{alert.id}"
    holds = already(await alerts.true_now(visit, alert.filter_query, alert.language, alert.scope))
    found = await visit.context.storage.alerts.destinations(alert.id)
    if to in standing:
        return Go(there, say("Alert created. Its matches go to %(name)s.", name=found[0].label) + holds)
    if to == "later":
        says = say("Alert created. It has no destination yet, so no one is notified.")
        says = say("Alert created. Its matches go to the destinations of its tags.") if found else says
        return Go(there, says + holds)
    kind = visit.context.kinds.get(to)
    if to != "bin" and (kind is None or not has_address_only(kind)):
        asked = {"alert": alert.id} | ({} if kind is None else {"kind": to})
        return Go(f"/destinations/new?{urlencode(asked)}", say("Alert created. Choose who to notify."))
    try:
        wanted = NewDestination(
            url=await bins.new_address(visit) if to == "bin" else form.url,
            kind=WEBHOOK if to == "bin" else to,
            delivery_mode=getattr(form, "delivery_mode", "instant"),
            label=BIN if to == "bin" else None,
        )
        made = await destinations.add(visit, alert.id, wanted)
    except (Refusal, DomainError) as error:
        says = say("Alert created, but not its destination: %(reason)s", reason=translated(error.detail))
        asked = {"alert": alert.id} | ({"url": form.url} if form.url else {})
        return Go(f"/destinations/new?{urlencode(asked)}", says, bad=True)
    name = say("a new test inbox") if to == "bin" else made.destination.label
    secret = signing_secret(made.destination.label, made.secret) if made.secret else None
    return Go(there, say("Alert created. Its matches go to %(name)s.", name=name) + holds, secret=secret)


def already(found: Sequence[wire.TrueNow]) -> str:
    values = "; ".join(f"{value.source}: {value.text}" for value in found)
    says = say("True already: %(values)s. It matches once this changes again.", values=values)
    return f" {says}" if found else ""
