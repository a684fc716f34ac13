"""Templates."""

from __future__ import annotations

from api.openapi.example_templates import NAME
from api.openapi.operation import Operation

_TWO = {"params": {"domain": ["shore.example", "tide.example"]}, "alerts": True}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/templates": Operation(
        name="listTemplates",
        tag="Templates",
        explains="""\
The built-in ones, and those of the folder set by `templates`. `source_count` is the number of URL \
patterns; each value of a parameter adds those that name it. `parameters` are names here, and more in the \
template itself.""",
    ),
    "GET /v1/templates/{template_id}": Operation(
        name="readTemplate",
        tag="Templates",
        explains="`{domain}` in a URL or a tag is where a parameter's value goes.",
    ),
    "POST /v1/templates/{template_id}/preview": Operation(
        name="previewTemplate",
        tag="Templates",
        explains="""\
Takes what `instantiate` takes, and checks it alike. Nothing is fetched and nothing is changed, so whether the pages \
are there is not known yet.""",
        asks={"Two competitors": _TWO},
    ),
    "POST /v1/templates/{template_id}/instantiate": Operation(
        name="instantiateTemplate",
        tag="Templates",
        explains=f"""\
Answers 200 with a report, also when some of it failed: a page that a competitor does not have, a host that does not \
answer. It takes at most half a minute; what was not done by then failed with `timeout`.

Calling again is always safe: what is there is found, what failed is tried again. Sources are known by their URLs, \
each suggested alert is made once and grows: other domains in another call join the alerts of the first.

All sources get the tag `template:{NAME}` (after the template), also those that were watched before. Their events are \
at `next_steps.stream`, and on the channel of the template's name. `next_steps.add_destination` is a path below \
`/v1`.""",
        asks={"Two competitors, and the alerts": _TWO, "Without parameters": {"alerts": False}},
    ),
}
