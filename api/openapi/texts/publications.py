"""Publications."""

from __future__ import annotations

from api.openapi.operation import Operation

_TAG = "Publications"
_LEADS = {"readPublication": "id", "changePublication": "id", "readdressPublication": "id", "deletePublication": "id"}
OPERATIONS: dict[str, Operation] = {
    "POST /v1/publications": Operation(
        name="addPublication",
        tag=_TAG,
        explains="""\
The answer names the addresses: `url` is a page for people, `feeds` are Atom, RSS and JSON Feed. Whoever knows one of \
them may read, without a key, and nobody can guess it. Search engines are asked to leave it out.

Events are those that meet all that is named; of several sources, tags or alerts, any. Notices of the \
service itself are left out, unless the channel that is named carries them. What somebody calls noise \
(`POST /v1/events/{id}/feedback`) is shown no more.""",
        asks={"everything about prices": {"title": "Prices", "tags": ["prices"]}},
        leads=_LEADS,
    ),
    "GET /v1/publications": Operation(
        name="listPublications", tag=_TAG, explains="Each with the addresses that let readers in."
    ),
    "GET /v1/publications/{id}": Operation(
        name="readPublication", tag=_TAG, explains="What is published, and the addresses that let readers in."
    ),
    "PATCH /v1/publications/{id}": Operation(
        name="changePublication",
        tag=_TAG,
        explains="The addresses stay. What is named anew holds for the past, too.",
        asks={"another title": {"title": "Prices and offers"}},
    ),
    "POST /v1/publications/{id}/address": Operation(
        name="readdressPublication",
        tag=_TAG,
        explains="For when somebody has an address who should not: the old ones answer 404 from now on, for everybody.",
    ),
    "DELETE /v1/publications/{id}": Operation(
        name="deletePublication", tag=_TAG, explains="Its addresses answer 404 from then on."
    ),
}
