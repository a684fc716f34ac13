"""The inventory of an export: for each storage table and column, the field that carries it, or why it stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ONE_SPACE: Final = "there is one space"
CARRIED: Final[Mapping[str, Mapping[str, str]]] = {
    "source_key": {"key": "a number of this folder's own", "id": "source.source.id, event.event.source_id"},
    "source": {
        "space_id": ONE_SPACE,
        "key": "",
        "url": "source.source.url",
        "body": "source.source",
        "sealed": "a greeting does not travel; source.greets says that there is one",
    },
    "source_hot": {
        "key": "",
        "body": "source.memory, whose tally begins anew",
        "version": "drawn anew at the first look there",
        "jar": "renewed cookies do not travel, as the headers that they renew",
    },
    "source_base": {"key": "", "body": "source.base"},
    "log": {
        "seq": "event.event.id",
        "source": "event.event.source_id",
        "kind": "event.kind",
        "codec": "how it is stored here",
        "body": "event.event",
    },
    "alert": {
        "space_id": ONE_SPACE,
        "id": "alert.alert.id",
        "created_at": "alert.alert.created_at",
        "body": "alert.alert",
        "match_count": "alert.alert.match_count",
        "last_match_at": "alert.alert.last_match_at",
    },
    "matched_day": {"day": "alert.matched", "alert": "alert.matched", "events": "alert.matched"},
    "destination": {
        "space_id": ONE_SPACE,
        "key": "",
        "id": "destination.destination.id",
        "alert": "destination.destination.alert_id",
        "created_at": "destination.destination.created_at",
        "body": "destination.destination",
        "sealed": "webhook secrets do not travel",
        "private": "what receivers let deliveries in by does not travel",
        "last_delivery_at": "destination.destination.last_delivery_at",
    },
    "cursor": {"name": "only matching has one", "seq": "log.matched"},
    "tag_defaults": {"tag": "tag.defaults.tag", "body": "tag.defaults", "space_id": ONE_SPACE},
    "fact": {"name": "floor; the others count this folder's own starts and captures", "value": "log.forgotten"},
    "signing_key": {
        "key_id": "key.key_id",
        "seed": "only its public half, key.x",
        "created_at": "key.created_at",
        "state": "none of them signs elsewhere",
    },
    "publication": {
        "space_id": ONE_SPACE,
        "id": "publication.publication.id",
        "token_hash": "publication.publication.token_hash",
        "created_at": "publication.publication.created_at",
        "body": "publication.publication",
        "sealed": "the address itself does not travel; readers who have it go on with it",
    },
    "retraction": {"seq": "retraction.event", "event": "retraction.event", "at": "retraction.at"},
    "public_key": {"key_id": "key.key_id", "x": "key.x", "created_at": "key.created_at"},
}
"""By table and column: the line and field that carries it, or why none does."""
