"""The mark of a record that files describe: the workspace and the name in it. Stored in the record itself.

See docs/decisions/managed-records.md.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Workspace = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$(?!\n)",
        description="The name of the folder of files; no two folders have the same",
        examples=["shop"],
        extra={"form": "at most 63 of a-z, 0-9, - and _, with a letter or a digit first"},
    ),
]
ManagedName = Annotated[
    str, Meta(min_length=1, max_length=200, description="What the files call it", examples=["day-tickets"])
]
Applied = Annotated[
    str,
    Meta(
        max_length=2000,
        description="What the files set when they were applied last, as `field=digest` with spaces between; none of "
        "it is of a secret",
        examples=["url=5b0e6a3c"],
    ),
]


class Managed(Struct, frozen=True, forbid_unknown_fields=True):
    """A record is described by files, and changed by `sanderling apply`."""

    workspace: Workspace
    name: ManagedName
    applied: Applied = ""
