"""Tags and their defaults."""

from __future__ import annotations

from api.openapi.operation import Operation

_TAG = "Tags"
OPERATIONS: dict[str, Operation] = {
    "GET /v1/tags": Operation(
        name="listTags",
        tag=_TAG,
        explains="Each with how many sources have it. The service's own tags are left out. To change the tags of a "
        "source, change the source.",
    ),
    "GET /v1/tags/{tag}": Operation(
        name="readTag",
        tag=_TAG,
        explains="A bare word is a label: `prices` is `label:prices`. A tag with defaults is there without a source. "
        "The `ETag` is of its defaults: it is missing where there are none.",
    ),
    "PUT /v1/tags/{tag}": Operation(
        name="setTagDefaults",
        tag=_TAG,
        explains="""\
A source has its own value of a setting; else that of the first of its tags that has one, in the order of its `tags`, \
and a tag goes before those above it (`news/se` before `news`); else the default of the service. `ignore` adds up. \
What a source can't have is passed over: a feed has no `selector`, a JSON document none in CSS. A source's record \
says in `effective` what holds for it, and in `inherited` from which tags.

All sources with the tag follow at once, later ones too. Each is looked at within one interval, not all at the same \
time. Another part of a page is a page to begin anew with: its difference is no news.

`destinations` names destinations of any alert. An alert that is added over the tag from now on gets a copy of each, \
unless its `default_destinations` is false; alerts that are there already keep theirs. This needs the scope \
`alerts:write` too.""",
        asks={
            "Prices, in the hours of the office": {
                "schedule": "15m",
                "hours": "weekdays 08-18 Europe/Stockholm",
                "bar": 0.4,
                "ignore": ["nav", ".visitors-online"],
            }
        },
    ),
    "DELETE /v1/tags/{tag}": Operation(
        name="deleteTagDefaults",
        tag=_TAG,
        explains="Its sources keep the tag, and go on by their own settings, those of their other tags and the "
        "service's defaults. Alerts keep the destinations that they were given.",
    ),
}
