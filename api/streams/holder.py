"""Whose a stream or an export is: a program's, by its key, or a page's of the dashboard."""

from __future__ import annotations

from storage.records.key import ApiKey
from storage.records.session import Session

Holder = ApiKey | Session
