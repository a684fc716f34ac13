"""Secrets."""

from __future__ import annotations

from api.openapi import example_records as records
from api.openapi.operation import Operation

OPERATIONS: dict[str, Operation] = {
    "POST /v1/secrets/compare": Operation(
        name="compareSecrets",
        tag="Secrets",
        explains="""\
For who keeps secrets elsewhere, and wants to know whether those here are the same: `sanderling apply` asks before \
it says that nothing is to change. Nothing is stored. 429 after a thousand values that were other ones: from then on \
one a second is compared.""",
        asks={
            "the key of an API": {
                "secrets": [
                    {
                        "of": "source",
                        "id": records.SOURCE_ID,
                        "name": "headers",
                        "value": "Authorization: Bearer 3f9a",
                    }
                ]
            }
        },
    ),
}
