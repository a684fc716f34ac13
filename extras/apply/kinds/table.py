"""The kinds of records in files, in order of creation: later ones may name earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from extras.apply.kinds import alerts, destinations, publications, sources, tags
from extras.apply.kinds.kind import Kind

KINDS: Final[Mapping[str, Kind]] = {
    kind.id: kind for kind in (sources.KIND, alerts.KIND, destinations.KIND, tags.KIND, publications.KIND)
}
