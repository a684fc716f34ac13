"""Destinations and their deliveries."""

from __future__ import annotations

from api.openapi import example_records as records
from api.openapi.operation import Operation

_TAG = "Destinations"
_OF_ONE = (
    *(
        "readDestination",
        "changeDestination",
        "testDestination",
        "inviteAgain",
        "rotateSecret",
        "listDeliveries",
        "replay",
    ),
    "deleteDestination",
)
OPERATIONS: dict[str, Operation] = {
    "POST /v1/alerts/{id}/destinations": Operation(
        name="addDestination",
        tag=_TAG,
        explains="""\
Matches from now on are posted to `url`: one event each with `instant`, else a digest of each window of time. **The \
answer has the signing secret, and no other answer will**: keep it.

`kind` chooses how: a program gets a signed webhook, people are told in a chat or on a phone, with no signature and \
no secret. `options` is what the kind asks for (`GET /v1/destination-kinds`); what lets somebody in is sealed and no \
answer shows it. 422 for a kind that this service does not have.

The URL must be public https; private addresses and plain http are for networks that the operator has opened. An \
alert has at most 20 destinations.""",
        asks={
            "At once": {"kind": "webhook", "url": "https://hooks.example/in", "delivery_mode": "instant"},
            "To a phone": {"kind": "ntfy", "options": {"topic": "prices-k3f9x2"}},
            "To a channel": {"kind": "slack", "url": "https://hooks.slack.com/services/T000/B000/XXXX"},
            "Every morning in Stockholm": {
                "url": "https://hooks.example/digest",
                "delivery_mode": "daily",
                "digest_hour": 7,
                "digest_timezone": "Europe/Stockholm",
            },
            "At once, except at night": {
                "url": "https://hooks.example/in",
                "quiet_hours": {"from": "22:00", "to": "07:00", "timezone": "Europe/Stockholm"},
            },
        },
        leads=dict.fromkeys(_OF_ONE, "/id"),
    ),
    "GET /v1/alerts/{id}/destinations": Operation(
        name="listDestinationsOfAlert", tag=_TAG, explains="Oldest first, without their secrets."
    ),
    "GET /v1/destinations": Operation(
        name="listDestinations", tag=_TAG, explains="Those of all alerts, without their secrets."
    ),
    "GET /v1/destination-kinds": Operation(
        name="listDestinationKinds",
        tag=_TAG,
        explains="""\
How people and programs can be told: those that come with the service, and those of the operator's folder. `options` \
are the fields that a form shows; a private one is written and never read.""",
    ),
    "POST /v1/destinations/preview": Operation(
        name="previewMessage",
        tag=_TAG,
        explains="""\
What a person would read of the newest event, and of a digest of the newest: of those that an alert matches, or of \
all. An empty log gives samples. `text` is marked up as the service of this kind takes it (`dialect`). 422 says what \
is wrong with a template, and on which line; 429 after 20 previews at once, all keys together.""",
        asks={
            "One line a change": {
                "kind": "slack",
                "message": "{% for one in changed %}*{{ one.before }}* to *{{ one.after }}*\n{% endfor %}{{ link }}",
            },
            "Another title": {"kind": "ntfy", "message_title": "{{ host }}: {{ title }}", "alert_id": records.ALERT_ID},
        },
    ),
    "GET /v1/destinations/{id}": Operation(
        name="readDestination",
        tag=_TAG,
        explains="`state` is failing while nothing gets through, and disabled after 5 days of that.",
    ),
    "PATCH /v1/destinations/{id}": Operation(
        name="changeDestination",
        tag=_TAG,
        explains="""\
Fields that are left out stay as they are. `enabled: true` also brings back one that was disabled for its failures; \
`replay_from` then says from where to replay what it was never given, and null declines that. 409 for `enabled: true` \
while `needs_secret`.""",
        asks={
            "Another address": {"url": "https://hooks.example/v2"},
            "Another token": {"options": {"token": "a1b2c3"}},
            "A digest instead": {"delivery_mode": "hourly", "quiet_hours": None},
        },
    ),
    "DELETE /v1/destinations/{id}": Operation(
        name="deleteDestination", tag=_TAG, explains="What waits for it is not delivered any more."
    ),
    "POST /v1/destinations/{id}/test": Operation(
        name="testDestination",
        tag=_TAG,
        explains="""\
Posts a sample that is signed and shaped like a live delivery, and waits for the answer. `result`: sent, retry (a \
live one would be tried again) or terminal. 409 when the destination is paused or disabled.""",
    ),
    "POST /v1/destinations/{id}/invite": Operation(
        name="inviteAgain",
        tag=_TAG,
        explains="""\
Mail goes to nobody who has not agreed to it (`needs_agreement`). The first question is sent when the destination is \
added; this sends another one, and says what the mail server answered. 409 when nobody has to be asked.""",
    ),
    "POST /v1/destinations/{id}/rotate-secret": Operation(
        name="rotateSecret",
        tag=_TAG,
        explains="""\
For 24 hours deliveries carry a signature by each, so that a receiver changes over without losing one. **No other \
answer has the new secret.**""",
    ),
    "GET /v1/destinations/{id}/deliveries": Operation(
        name="listDeliveries",
        tag=_TAG,
        explains="Every attempt: when, how it was answered and how fast, and when the next one is.",
    ),
    "POST /v1/destinations/{id}/replay": Operation(
        name="replay",
        tag=_TAG,
        explains="""\
Puts what the alert, as it is now, matches in the past into the destination's queue: all after `since`, up to \
`until` if that is given, or the events of `ids`. They come with the ids that they had. One request looks for at \
most 5 seconds and takes at most 1,000 events; `next_since` says where the next one goes on. 429 after 10 in a \
minute, or with 10,000 waiting.""",
        asks={
            "Since a time": {"since": records.MADE},
            "A range": {"since": records.EVENT_ID, "until": "2026-04-22T00:00:00Z"},
            "Two events": {"ids": [records.EVENT_ID, "019db0a4-6b00-7000-8000-0000000000a8"]},
        },
    ),
}
