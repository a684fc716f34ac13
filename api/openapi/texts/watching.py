"""The watching of a source: its state and its previews."""

from __future__ import annotations

from api.openapi import example_records as records
from api.openapi.operation import Operation

OPERATIONS: dict[str, Operation] = {
    "POST /v1/sources/detect": Operation(
        name="detect",
        tag="Watching",
        explains="""\
Fetches the URL as adding it would, adds nothing, and shows what a look now would have told: a feed's newest \
entries as events, a page's blocks and which of them are left out, a WebSocket's first frames (it listens for up to \
3 seconds), the pace, robots.txt. `selector`, `ignore` and `filter` are tried out as they would be used.""",
        asks={
            "A URL": {"url": "https://shore.example/blog/"},
            "A part of a page": {"url": records.PAGE, "type": "html", "selector": "main"},
        },
    ),
    "POST /v1/sources/{id}/preview": Operation(
        name="previewSource",
        tag="Watching",
        explains="""\
Fetches a watched page and shows its blocks as another `selector` or `ignore` would have them. Nothing is changed. \
What is left out of the request is as it is in the source. 429 when a look would be impolite now.""",
        asks={"Another part of the page": {"selector": "main", "ignore": [".visitors-online"]}},
    ),
    "POST /v1/sources/blocks": Operation(
        name="pickFromUrl",
        tag="Watching",
        explains="""\
A page is read into blocks: paragraphs, items, cells, headings. Each has a `selector` that chooses it alone and that \
is made to last: by ids and classes that people gave, by the label of its row or the heading above it, and by its \
place only where nothing else tells it from others. `press` one by its `number` and `mark` to see how far the choice \
may reach and what would be kept; then add the source with that `selector` and `ignore`. JSON gets JSONPaths, a text \
lines, XML an XPath and a file a path (`path:Prices › Team · Fee`). Nothing is added, and \
nothing of a page is ever sent on as HTML.""",
        asks={
            "All blocks": {"url": records.PAGE},
            "All that are like one": {
                "url": records.PAGE,
                "press": {"number": 7, "mark": "d54adf93", "act": "only", "reach": "like"},
            },
        },
    ),
    "POST /v1/sources/{id}/blocks": Operation(
        name="pickFromSource",
        tag="Watching",
        explains="""\
As POST /v1/sources/blocks, of a page that is watched: fetched now, or within the last minute. Nothing is changed; \
PATCH does that, with `kept.selector` and `kept.ignore`. 429 when a look would be impolite now.""",
        asks={
            "What is watched now": {},
            "All but one": {"press": {"number": 12, "mark": "82e8e416", "act": "without"}},
        },
    ),
    "GET /v1/sources/{id}/health": Operation(
        name="readHealth",
        tag="Watching",
        explains="""\
`score` is from 0 to 1; `flag` is ok from 0.7, degraded from 0.3, else rotten. A source that is merely quiet keeps \
1. `reason` names what costs most.""",
    ),
    "GET /v1/sources/{id}/status": Operation(
        name="readStatus",
        tag="Watching",
        explains="""\
When it was looked at last, when it will be next, what the circuit breaker does, and the last error in words. Of a \
push source also its connection and what became of its frames.""",
    ),
    "GET /v1/sources/{id}/looks": Operation(
        name="readLooks",
        tag="Watching",
        explains="""\
Looks that went alike are one row. Of those whose body changed, a note says what was told, what was not, and by \
which rule.""",
    ),
    "GET /v1/sources/{id}/coverage": Operation(
        name="readCoverage",
        tag="Watching",
        explains="""\
Looks that are on record, by what they came to, and the longest known time without one that saw the source. `unknown` \
lists the times of which nothing is known: nobody may read them as quiet. The time is widened to whole hours, as looks \
are counted, and cut off at this moment: `from` and `to` of the answer hold. It is signed as events are: `sanderling \
verify` checks it without the service.""",
    ),
    "GET /v1/sources/{id}/values": Operation(
        name="readValues",
        tag="Watching",
        explains="""\
`current` is read from the page as it was last told, also what has never changed; a feed, a WebSocket and a list that \
is followed have none, as what they say is news. `series` are read from the `changes` of its events, as far back as \
the log goes, of the newest 1,000 at most, and begin with the first look: a value holds until the next one. With \
`format=csv` one line for each value of the series, then one for each date, version and state of now.""",
        others={"text/csv": "at,label,path,type,value,unit\r\n2026-04-21T10:24:00Z,Day ticket,,money,14.50,EUR\r\n"},
    ),
    "GET /v1/sources/{id}/versions": Operation(
        name="listVersions",
        tag="Watching",
        explains="""\
Each change of a page that is kept left a version; of the newest 100. They are rebuilt from the texts that are watched \
now, back through what each event told. Where that ends (a difference was too long, or another part of the page was \
chosen), earlier ones are only what their events carry: `kept` says so.""",
    ),
    "GET /v1/sources/{id}/compare": Operation(
        name="compareVersions",
        tag="Watching",
        explains="""\
`from` is always the earlier one, whatever order they were named in. Where only the main text of one is kept, that is \
compared and `partial` is true; 409 where too little is kept to know. What only moved is no difference. 2,000 steps at \
most.""",
    ),
    "GET /v1/sources/{id}/why": Operation(
        name="whyNot",
        tag="Watching",
        explains="""\
Looks for `text` in what was told, in what was seen and not told, and in what is left out of a page, and says what \
is known, the best reason first. `look=true` also fetches the page now, if politeness allows, for which the key \
needs the scope `sources:write` as well.""",
    ),
    "GET /v1/events/{id}/why": Operation(
        name="whyEvent",
        tag="Watching",
        explains="What the look was compared with, what weighed most, and which alerts match it as they are now.",
    ),
    "POST /v1/events/{id}/feedback": Operation(
        name="teach",
        tag="Watching",
        explains="""\
`noise`: what came or went in this event counts for nothing from now on, also with other figures in it. `real` \
takes that back. Only a page's events can be judged: feeds and frames are told because they are new.""",
        asks={"It was noise": {"verdict": "noise"}, "It was real after all": {"verdict": "real"}},
    ),
}
