"""The kinds of destinations, one row each. Nothing else in the program lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from actors.destination_kinds.kind import DestinationKind
from actors.destination_kinds.webhook import admission, sending
from storage.records.destination import KindName

KINDS: Final[Mapping[KindName, DestinationKind]] = {
    "webhook": DestinationKind("webhook", admission.admit, sending.new_secret, sending.send),
}
assert KINDS.keys() == set(get_args(KindName))
