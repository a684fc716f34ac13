"""Routes that need no key."""

from __future__ import annotations

from api.openapi.operation import Operation

_TAG = "Service"
_PAGE = '<!doctype html>\n<html lang="en"><head><title>The request is not valid</title></head><body>...</body></html>\n'
OPERATIONS: dict[str, Operation] = {
    "GET /.well-known/jwks.json": Operation(
        name="readKeys",
        tag=_TAG,
        explains="""\
A JWK Set (RFC 7517). Keys that were rotated out stay in it, so that old events verify. Fetch it again when an \
event names a `key_id` that you do not know.""",
        shows={
            200: {
                "keys": [
                    {
                        "kty": "OKP",
                        "crv": "Ed25519",
                        "alg": "EdDSA",
                        "use": "sig",
                        "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
                        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                    }
                ]
            }
        },
    ),
    "GET /.well-known/http-message-signatures-directory": Operation(
        name="readLookKeys",
        tag=_TAG,
        explains="""\
A JWK Set (RFC 7517) as Web Bot Auth wants it, for sites that check who looks at them. The answer is itself signed \
(RFC 9421). 404 where looks are not signed (the setting `sign_looks`).""",
        shows={
            200: {
                "keys": [
                    {
                        "kty": "OKP",
                        "crv": "Ed25519",
                        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                        "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
                        "use": "sig",
                        "nbf": 1792317847,
                    }
                ]
            }
        },
    ),
    "GET /.well-known/security.txt": Operation(
        name="readSecurityContact",
        tag=_TAG,
        explains="A security.txt (RFC 9116), made of the setting `contact`. 404 where that is empty.",
        shows={
            200: {
                "text/plain; charset=utf-8": "Contact: mailto:tide@shore.example\n"
                "Expires: 2026-10-18T10:24:07.120Z\n"
                "Canonical: https://shore.example/.well-known/security.txt\n"
            }
        },
    ),
    "GET /healthz": Operation(
        name="readLiveness",
        tag=_TAG,
        explains="503 when the process should be restarted: its writer has not moved for 30 s.",
        shows={200: {"status": "ok"}},
    ),
    "GET /readyz": Operation(
        name="readReadiness",
        tag=_TAG,
        explains="""503 names what is not ready in `errors`. `overdue`: looks that are due and have not happened.
`matching`: events that no alert has seen yet, and the age of the oldest. `looks`: how many are made a second, beside
the setting `looks_per_second`, and for how long more are made. `warnings`: sentences on what is late, beyond its
budget, or weaker here than it should be.""",
        shows={
            200: {
                "status": "ready",
                "parts": ["recorder", "sources"],
                "overdue": 0,
                "matching": {"events_behind": 0, "seconds_behind": 0.0},
                "looks": {"per_second": 0.4, "budget": 10.0, "passed_for_seconds": 0.0},
                "warnings": [],
            }
        },
    ),
    "GET /schemas/{name}/{version}": Operation(
        name="readSchema",
        tag=_TAG,
        explains="The JSON Schema (2020-12) of a type. `$schema` in events and problems leads here.",
        shows={
            200: {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": "http://127.0.0.1:8080/schemas/breaker/1.json",
                "title": "Breaker",
                "type": "object",
                "properties": {"state": {"enum": ["closed", "half-open", "open"]}},
                "required": ["state"],
            }
        },
    ),
    "GET /problems/{slug}": Operation(
        name="readProblem",
        tag=_TAG,
        explains="The page that a problem's `type` leads to.",
        shows={200: {"text/html": _PAGE}},
    ),
    "GET /openapi.json": Operation(
        name="readDescription",
        tag=_TAG,
        explains="OpenAPI 3.1, made from the types that validate requests and write answers.",
        shows={200: {"openapi": "3.1.0", "info": {"title": "Sanderling", "version": "1"}, "paths": {}}},
    ),
    "GET /docs": Operation(
        name="readReference",
        tag=_TAG,
        explains="The same for people, as one page without scripts.",
        shows={200: {"text/html": _PAGE}},
    ),
    "GET /docs/style.css": Operation(
        name="readStyle", tag=_TAG, explains="Of the pages for people.", shows={200: {"text/css": ":root {}\n"}}
    ),
}
