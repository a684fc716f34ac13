"""The owner of a stream or export: a program's key, or a dashboard session."""

from __future__ import annotations

from storage.records.key import ApiKey
from storage.records.session import Session

Holder = ApiKey | Session
