"""Alerts."""

from __future__ import annotations

from api.openapi import example_records as records
from api.openapi.operation import Operation

_OF_ONE = ("readAlert", "changeAlert", "addDestination", "listDestinationsOfAlert", "deleteAlert")
OPERATIONS: dict[str, Operation] = {
    "POST /v1/alerts": Operation(
        name="addAlert",
        tag="Alerts",
        explains="""\
`filter_query` is read in `language`: words are stemmed, case and accents do not count. All words must occur; `OR` \
makes alternatives, quotes a phrase, `-` an exclusion, parentheses groups, `*` at a word's end a prefix. An empty \
one matches everything. It matches what is emitted from now on. To send older events, replay them to a destination.

Of a page's change it looks at title, what came and what went (`match` is `change`, unless you choose another): \
`added` and `removed` look at one side, where at least one word of the query must stand besides what the title says, \
and `page` looks at title and content, so at all that stands on the page. Feeds and push are matched by title and \
content in any case.

One that can't be read is 400 with the position; a language that is not known is 422.""",
        asks={
            "Over the whole library": {"filter_query": 'price OR ticket OR "opening hours"'},
            "Swedish, over one source, as a channel": {
                "name": "Upphandlingar",
                "filter_query": "upphandling* -avslutad",
                "language": "sv",
                "source_ids": [records.SOURCE_ID],
                "channel": "upphandling",
            },
            "Over every source with a tag, also later ones": {
                "filter_query": "price",
                "tags": ["shop", "topic:tickets"],
            },
            "When something has come to a page": {"filter_query": '"sold out"', "match": "added"},
        },
        leads=dict.fromkeys(_OF_ONE, "/id"),
    ),
    "POST /v1/alerts/preview": Operation(
        name="previewAlert",
        tag="Alerts",
        explains="""\
Looks at the newest events, at most 2,000 and for at most 2 seconds, and says how many it has looked at. Of each match \
shown there are the terms that were found and where they stand: pairs of Unicode code points in the title, the \
content, or the texts of the event's `diff` (`part` and `index` say which), never HTML. `terms` says how many of the \
events have each term, so that one sees which of them asks for too much; `warnings` are sentences about the query \
itself; `per_day` is the volume to expect.

Errors are those of adding an alert. 429 after 10 previews at once, all keys together.""",
        asks={
            "Over the whole library": {"filter_query": 'price OR ticket OR "opening hours"'},
            "The last 200 events of one source": {
                "filter_query": "upphandling* -avslutad",
                "language": "sv",
                "source_ids": [records.SOURCE_ID],
                "last": 200,
                "limit": 5,
            },
        },
    ),
    "GET /v1/alerts": Operation(name="listAlerts", tag="Alerts", explains="All alerts, paused ones too."),
    "GET /v1/alerts/{id}": Operation(
        name="readAlert", tag="Alerts", explains="With how often it has matched, and when last."
    ),
    "PATCH /v1/alerts/{id}": Operation(
        name="changeAlert",
        tag="Alerts",
        explains="""\
Fields that are left out stay as they are; null takes the `channel` away. The change holds from the next event on, \
for open streams of its channel too.""",
        asks={
            "Another query": {"filter_query": "price -careers"},
            "No longer the whole page": {"match": "change"},
            "No channel any more": {"channel": None},
            "Over a tag, and no single sources": {"source_ids": [], "tags": ["shop"]},
        },
    ),
    "DELETE /v1/alerts/{id}": Operation(
        name="deleteAlert",
        tag="Alerts",
        explains="Its destinations go with it, and what waits for them.",
    ),
}
