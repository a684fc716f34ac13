"""Apprise addresses: the destination each becomes, and the notes on those that become none."""

from __future__ import annotations

import pytest

from actors.destination_kinds.kind import validated
from actors.destination_kinds.table import built_in_kinds
from extras.migrate.drafting import DestinationBody, Drafting
from extras.migrate.notifying import SCHEMES, destinations

HIDDEN = "h1dd3n"
REACHED: list[tuple[str, str, str | None, dict[str, str]]] = [
    ("slack://T1/B2/h1dd3n", "slack", "https://hooks.slack.com/services/T1/B2/h1dd3n", {}),
    ("slack://bot@T1/B2/h1dd3n/#general", "slack", "https://hooks.slack.com/services/T1/B2/h1dd3n", {}),
    ("https://hooks.slack.com/services/T1/B2/h1dd3n", "slack", "https://hooks.slack.com/services/T1/B2/h1dd3n", {}),
    ("discord://123/h1dd3n", "discord", "https://discord.com/api/webhooks/123/h1dd3n", {}),
    ("https://discord.com/api/webhooks/1/h1dd3n", "discord", "https://discord.com/api/webhooks/1/h1dd3n", {}),
    (
        "workflows://prod-1.logic.azure.com:443/w0/h1dd3n",
        "teams",
        "https://prod-1.logic.azure.com/workflows/w0/triggers/manual/paths/invoke"
        "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=h1dd3n",
        {},
    ),
    (
        "gchat://AAA/key/h1dd3n",
        "google-chat",
        "https://chat.googleapis.com/v1/spaces/AAA/messages?key=key&token=h1dd3n",
        {},
    ),
    ("mmosts://chat.example/h1dd3n", "mattermost", "https://chat.example/hooks/h1dd3n", {}),
    ("mmost://chat.example:8065/team/h1dd3n", "mattermost", "http://chat.example:8065/team/hooks/h1dd3n", {}),
    (
        "matrixs://h1dd3n@m.example/!abc:m.example",
        "matrix",
        "https://m.example",
        {"token": "h1dd3n", "room": "!abc:m.example"},
    ),
    ("tgram://123:h1dd3n/-100", "telegram", None, {"token": "123:h1dd3n", "chat": "-100"}),
    ("tgram://123:h1dd3n/-100:7/", "telegram", None, {"token": "123:h1dd3n", "chat": "-100", "thread": "7"}),
    ("ntfy://prices", "ntfy", None, {"topic": "prices"}),
    (
        "ntfys://tk_h1dd3n@ntfy.example/prices",
        "ntfy",
        "https://ntfy.example",
        {"topic": "prices", "token": "tk_h1dd3n"},
    ),
    ("gotifys://push.example/h1dd3n", "gotify", "https://push.example", {"token": "h1dd3n"}),
    (
        "pover://uh1dd3n00000000000000000000000@a00000000000000000000000000000",
        "pushover",
        None,
        {"user": "uh1dd3n00000000000000000000000", "token": "a00000000000000000000000000000"},
    ),
    (
        "hassios://home.example:8123/h1dd3n",
        "home-assistant",
        "https://home.example:8123",
        {"token": "h1dd3n", "service": "persistent_notification"},
    ),
    ("mailtos://anna:h1dd3n@example.com", "email", "anna@example.com", {}),
    ("mailtos://anna:h1dd3n@example.com?to=bo@example.org", "email", "bo@example.org", {}),
    (
        "jsons://anna:h1dd3n@hooks.example/in",
        "webhook",
        "https://hooks.example/in",
        {"username": "anna", "password": "h1dd3n"},
    ),
    (
        "jsons://hooks.example/in?-room=1&+X-Key=h1dd3n",
        "webhook",
        "https://hooks.example/in?room=1",
        {"headers": "X-Key: h1dd3n"},
    ),
]


def taken(address: str) -> tuple[list[DestinationBody], str]:
    """Return the destinations of an address, and all notes on it."""
    drafting = Drafting()
    found = list(destinations(drafting, "watch 1", address))
    return found, " ".join(finding.says for finding in drafting.plan("urls").findings)


@pytest.mark.parametrize(("address", "kind", "url", "options"), REACHED)
def test_an_address_reaches_the_same_people_here(
    address: str, kind: str, url: str | None, options: dict[str, str]
) -> None:
    (found,), says = taken(address)
    assert (found.kind, found.url, dict(found.options)) == (kind, url, options)
    assert kind in says or kind == "webhook"
    assert (HIDDEN not in says and HIDDEN not in found.known_by) or kind == "webhook"
    values = validated(built_in_kinds()[kind], options)
    assert {**values.options, **{name: one.value for name, one in values.private.items()}} == options
    assert taken(address)[0] == [found]


def test_several_people_in_one_address_are_several_destinations() -> None:
    found, _ = taken("tgram://123:h1dd3n/-100/-200")
    assert [dict(one.options)["chat"] for one in found] == ["-100", "-200"]
    assert len({one.known_by for one in found}) == 2


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("slack://not-a-token", "in an unsupported form"),
        ("tgram://nothing", "in an unsupported form"),
        ("matrixs://anna:h1dd3n@m.example/#room", "in an unsupported form"),
        ("ntfys://anna:h1dd3n@ntfy.example/prices", "in an unsupported form"),
        ("form://hooks.example/h1dd3n", "it expects another body"),
        ("twilio://h1dd3n:h1dd3n@1/2", "not read"),
        ("opsgenie://h1dd3n?region=eu", "not read"),
        ("discord://{{ id }}/h1dd3n", "a template makes its address"),
        ("https://[h1dd3n", "can't be read"),
        ("h1dd3n", "not read"),
    ],
)
def test_an_unsupported_address_says_why_and_shows_no_secret(address: str, says: str) -> None:
    found, told = taken(address)
    assert found == [] and says in told and HIDDEN not in told


def test_every_scheme_is_tried() -> None:
    tried = {address.partition("://")[0] for address, *_ in REACHED}
    twins = {"workflow", "matrix", "gotify", "hassio", "mailto"}
    assert SCHEMES - tried == twins
