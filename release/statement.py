"""The statement of where a release comes from: in-toto's Statement v1 with SLSA's provenance v1. Pure.

It names the commit, the lists of pinned packages and what was made of them. No name of a machine, of a folder or of a
person stands in it, and no time: of one commit and the same files it is the same, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:sanderling:make-release:1"


class Origin(NamedTuple):
    """The checkout. commit: its full hash. changed: whether tracked files differ from it."""

    commit: str
    changed: bool
    version: str


def statement(
    origin: Origin, platform: str, python: str, materials: Mapping[str, str], subjects: Mapping[str, str]
) -> str:
    """Return the document. materials and subjects: SHA-256 by name. Raises ValueError without subjects."""
    if not subjects:
        raise ValueError("there is nothing that a statement could be about")
    source = {"name": "source", "digest": {"gitCommit": origin.commit}}
    document = {
        "_type": STATEMENT,
        "subject": _named(subjects),
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"version": origin.version, "platform": platform},
                "internalParameters": {"changed": origin.changed, "python": python},
                "resolvedDependencies": [source, *_named(materials)],
            },
            "runDetails": {"builder": {"id": "urn:sanderling:make-release"}},
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _named(digests: Mapping[str, str]) -> list[dict[str, object]]:
    return [{"name": name, "digest": {"sha256": digests[name]}} for name in sorted(digests)]
