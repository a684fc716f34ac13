"""Fields of a watch that only produce a note."""

from __future__ import annotations

from typing import Final

from extras.migrate.fields import Field

_NO_STEPS: Final = "a browser shows the page, and is told nothing to do there"
_MESSAGE: Final = "a message is the event itself, as JSON"
FIELDS: Final = (
    Field("browser_steps", "impossible", f"{_NO_STEPS}: it is watched as it is without these steps"),
    Field("webdriver_js_execute_code", "impossible", _NO_STEPS),
    Field("webdriver_delay", "approximated", "a rendered page is read once it has come to rest"),
    Field("proxy", "impossible", "looks are made directly"),
    Field("ignore_text", "impossible", "lines are not left out by their text: leave out their element, or mark noise"),
    Field("extract_text", "impossible", "the whole text is watched, not what an expression finds in it"),
    Field("conditions", "impossible", "conditions about numbers and differences; an alert's query is about words"),
    Field("ignore_status_codes", "impossible", "a page that answers with an error has failed"),
    Field("notification_title", "impossible", _MESSAGE),
    Field("notification_body", "impossible", _MESSAGE),
    Field("notification_screenshot", "impossible", "no pictures are made"),
    Field("check_unique_lines", "approximated", "a text that an earlier look had shown is never told again"),
    Field("sort_text_alphabetically", "exact", "the order of blocks does not count"),
    Field("trim_text_whitespace", "exact", "white space does not count"),
    Field("remove_duplicate_lines", "approximated", "texts are compared block by block, whatever their number"),
    Field("strip_ignored_lines", "impossible", "lines are not left out by their text"),
    Field("llm_intent", "impossible", "changes are weighed by rules that can be looked up, not by a language model"),
)  # fmt: skip
ONE_WAY: Final = (
    ("filter_text_added", "that something was added counts too"),
    ("filter_text_removed", "that something is gone counts too"),
    ("filter_text_replaced", "that something was replaced counts too"),
)
"""Kinds of change that a watch may exclude."""
PLAIN_BACKENDS: Final = ("", "system", "html_requests")
