"""The descriptions and formats of an event's fields. Storage has the type, but knows nothing of the wire."""

from __future__ import annotations

from typing import Any

from storage.records.event import (
    AVAILABILITIES,
    LARGEST,
    MOST_CHANGES,
    MOST_CONTEXT,
    MOST_SCALE,
    MOST_SUMMARY,
    MOST_VALUE_TEXT,
)

UUID7 = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"
EVENT_VERSION = "1.5"
"""The version of the event's schema: `schema_version`, and a number that rises with each addition.

1.1: `summary`, and in `diff` and `delta` `context` and `spans`. 1.2: `changes`. 1.3: `unread`. 1.4: `heartbeat`. 1.5:
`story`.
"""
_TIME = {"format": "date-time"}

EVENT: dict[str, dict[str, Any]] = {
    "$schema": {"format": "uri", "description": "Where this schema is served."},
    "id": {
        "format": "uuid",
        "pattern": UUID7,
        "description": "A UUIDv7, increasing in the order of the log: the key to know repetitions by, the cursor for "
        "`since` and `Last-Event-ID`, and the `webhook-id` of its delivery.",
    },
    "source_id": {"format": "uuid", "description": "The source that it is from."},
    "source_type": {"description": "That source's tier."},
    "source_url": {"description": "The URL that is watched."},
    "url": {"description": "The URL of what is new."},
    "title": {"description": 'Plain text; "" when there is none.'},
    "summary": {
        "description": "The event in one line of plain text, at most 140 characters, never empty: of a page the "
        "heaviest change with its context, of others the title or the beginning of the content. "
        "Absent before version 1.1.",
        "minLength": 1,
        "maxLength": MOST_SUMMARY,
    },
    "author": {"description": 'Plain text; "" when there is none.'},
    "content": {
        "description": "The main text, at most 64 KiB of UTF-8; of a changed page with every text that the difference "
        "shows of it."
    },
    "content_truncated": {"description": "True when `content` was cut; else absent."},
    "content_hash": {
        "pattern": "^sha256:[0-9a-f]{64}$",
        "description": "SHA-256 of the whole content, NFC-normalised, before it was cut.",
    },
    "simhash": {"description": "A similarity hash of 53 bits: few bits differ between like texts.", "minimum": 0},
    "tags": {"description": "Each `<namespace>:<value>`."},
    "published_at": {"description": "The source's own word for when, or null."},
    "fetched_at": {**_TIME, "description": "When the look was made that found it."},
    "emitted_at": {**_TIME, "description": "When it was put into the log; the time in its `id`."},
    "schema_version": {
        "description": "1. A field may be added without a new number; ignore what you do not know. What was added when "
        "says the `x-version` of this schema."
    },
    "diff": {"description": "Of a page's change only: what was added, removed and changed, to be read."},
    "delta": {"description": "Of a page's change only: the steps from the old text to the new one."},
    "unread": {
        "description": "Of a source that follows: why the item's own page was not read, in a sentence. `content` is "
        "then what the list, or the feed, says of the item. Absent where the page was read."
    },
    "changes": {
        "description": "What changed, by kind, with its values: of a page all that differs, of an entry or a frame the "
        "values that it names. Absent where nothing is known, and before version 1.2.",
        "maxItems": MOST_CHANGES,
    },
    "alert_type": {"description": "Of the service's own notices only, such as `source_quiet`."},
    "heartbeat": {"description": "Of a heartbeat (`alert_type` is `heartbeat`) only: what it says."},
    "story": {
        "format": "uuid",
        "pattern": UUID7,
        "description": "The `id` of the first event that told the same: the same link, or nearly the same text, in "
        "another source within a week; its own where it is the first. Absent in notices, and before version 1.5.",
    },
    "signed_at": {**_TIME, "description": "When it was signed."},
    "key_id": {"description": "The RFC 7638 thumbprint of its key in `/.well-known/jwks.json`."},
    "signature": {
        "description": "Ed25519 over the RFC 8785 form of the event without this field, in base64url without padding."
    },
}
_LABEL = {"maxLength": MOST_CONTEXT}
_VALUE_TEXT = {"maxLength": MOST_VALUE_TEXT}
WORDS: dict[str, dict[str, dict[str, Any]]] = {
    "Event": EVENT,
    "Heartbeat": {
        "number": {"minimum": 1, "description": "Counts the heartbeats of this log; one that is left out is missing."},
        "every_seconds": {
            "minimum": 1,
            "description": "How often one is due: when none has come for two of these, the service or the way to you "
            "has failed.",
        },
        "due_at": {**_TIME, "description": "When it was due by the service's clock."},
        "before": {"pattern": UUID7, "description": "The id of the heartbeat before it; null for the first."},
        "head": {"pattern": UUID7, "description": "The id of the newest event before it: the log reaches up to there."},
        "running_since": {**_TIME, "description": "When the process that wrote it began."},
        "looks": {
            "minimum": 0,
            "description": "Looks at feeds and pages that ended since `looks_since`, at the node that wrote it.",
        },
        "looks_since": {
            **_TIME,
            "description": "When that process wrote the heartbeat before, or began if that is later.",
        },
        "watched": {"minimum": 0, "description": "Sources that are watched."},
        "failing": {"minimum": 0, "description": "Of these, those that fail, or rest after failures."},
        "paused": {"minimum": 0, "description": "Sources that a person has paused."},
    },
    "Context": {
        "heading": {**_LABEL, "description": "The nearest heading above."},
        "row": {**_LABEL, "description": "Of a cell the label of its row, of a definition its term."},
        "column": {**_LABEL, "description": "Of a cell the head of its column."},
    },
    "Diff": {
        "added": {"description": "Texts that came."},
        "removed": {"description": "Texts that went."},
        "changed": {"description": "Texts that were altered."},
        "truncated": {"description": "True when the difference is longer than what is shown of it."},
        "context": {"description": "Where the texts of `added` and `removed` stand; absent where nothing is known."},
    },
    "Contexts": {
        "added": {"description": "One for each text of `added`, in its order."},
        "removed": {"description": "One for each text of `removed`, in its order."},
    },
    "Change": {
        "context": {"description": "Where it stands; absent where nothing is known."},
        "spans": {
            "description": "The words that differ, as pairs of code points: from the first on and before the second. "
            "Absent where the two have too little in common, or are too long to compare."
        },
    },
    "TypedChange": {
        "kind": {
            "description": "A price, an availability, a date or time, a number or share, a version, a name, a negation "
            "(a word such as *not* came or went), an item that came or went, or other text."
        },
        "label": {**_VALUE_TEXT, "description": "What the value is of, in the page's own words."},
        "path": {"description": "Where it stands in a document that has paths, such as `$.plans[1].price`."},
        "before": {"description": "What it was; absent where it came."},
        "after": {"description": "What it is now; absent where it went."},
        "lowest_since": {
            **_TIME,
            "description": "Of a price that fell: since when it was never lower, as far as the log says.",
        },
        "highest_since": {**_TIME, "description": "Of a price that rose: since when it was never higher."},
    },
    "Value": {
        "text": {**_VALUE_TEXT, "description": "As it stands on the page."},
        "type": {"description": "What it was read as; absent for plain text."},
        "number": {
            "minimum": -LARGEST,
            "maximum": LARGEST,
            "description": "The value times ten to the power of `scale`: 1,099.50 is 109950 with scale 2.",
        },
        "scale": {"minimum": 0, "maximum": MOST_SCALE, "description": "How many of the number's digits are decimals."},
        "unit": {"description": "A currency (ISO 4217), `%`, or a unit of measure; absent where none is known."},
        "value": {
            "description": "Of a date `YYYY-MM-DD`, `YYYY-MM` or `MM-DD`, of a time `HH:MM`, of a version its numbers, "
            f"of an availability one of {', '.join(AVAILABILITIES)}."
        },
    },
    "Op": {"context": {"description": "Where its text stands, for `replace` the new one."}},
    "Problem": {
        "$schema": {"format": "uri", "description": "Where this schema is served."},
        "type": {"format": "uri", "description": "The kind of problem, and the page that explains it."},
        "title": {"description": "The kind in a few words, always the same."},
        "status": {"description": "The HTTP status."},
        "detail": {"description": "What went wrong this time."},
        "instance": {"description": "The path of the request."},
        "errors": {"description": "The places that are wrong."},
    },
    "FieldError": {
        "location": {"description": "Where: `body.tags[1]`, `query.limit`, `header.Last-Event-ID`, or a part's name."},
        "message": {"description": "Why."},
        "value": {"description": "What was there, cut to 200 characters."},
    },
}
"""Type name to field to additions to its schema."""
_NO_TEXT = {"type": ["string", "null"], "maxLength": 0}
"""Null, for fields whose text is never empty. Client generators reject a bare `null` type."""
_TEXTS = {"type": "array", "items": {"type": "string"}}
_NO_TEXTS = {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 0}
SHAPES: dict[str, dict[str, Any]] = {
    "Event": {"x-version": EVENT_VERSION},
    "ReplayRequest": {
        "oneOf": [
            {"required": ["since"], "properties": {"since": {"type": "string"}, "ids": _NO_TEXTS}},
            {
                "required": ["ids"],
                "properties": {"ids": _TEXTS, "since": _NO_TEXT, "until": _NO_TEXT},
            },
        ]
    },
}
"""Type name to additions that concern several fields."""
