"""All that a worker can be asked. Slow to import: the parsers come along."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import Stemmer  # noqa: F401  # here, because a worker opens no file once it has started

from actors.content.tasks import TASKS as CONTENT
from actors.query.preview import TASKS as QUERY
from actors.query.search import TASKS as SEARCH

TASKS: Mapping[str, Callable[[bytes], bytes]] = {**CONTENT, **QUERY, **SEARCH}
