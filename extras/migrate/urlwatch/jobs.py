"""A file's jobs, one per document, as sources and alerts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from extras.migrate.asking import UNSUPPORTED, basic_of, cookies_of, pairs_of, request_of
from extras.migrate.drafting import Drafting
from extras.migrate.fields import MOST_ITEMS, Field, tell_of, text, truth
from extras.migrate.plan import DestinationBody, NotReadable, Plan, named, shortened
from extras.migrate.showing import PLAIN, Shown, shown
from extras.migrate.urlwatch.filters import filtered
from extras.migrate.urlwatch.reporters import is_settings, reporters
from extras.migrate.wording import Unsayable, whole
from extras.migrate.yaml import documents

_DIRECT: Final = "looks are made directly"
_DIFFERENCE: Final = "what an event shows is the whole difference that was found"
_FAILING: Final = "a failing source is told of once it lasts (source_failing), and never as a change"
_LIMITS: Final = "it is the same for all: a setting of the service"
FIELDS: Final = (
    Field("http_proxy", "impossible", _DIRECT),
    Field("https_proxy", "impossible", _DIRECT),
    Field("proxy", "impossible", _DIRECT),
    Field("ssl_no_verify", "impossible", "a certificate must be valid"),
    Field("ignore_https_errors", "impossible", "a certificate must be valid"),
    Field("timeout", "approximated", f"look_timeout: {_LIMITS}"),
    Field("encoding", "approximated", "found out by the bytes, the header and the page"),
    Field("ignore_cached", "approximated", "looks are conditional; a body that is the same is no news"),
    Field("ignore_connection_errors", "approximated", _FAILING),
    Field("ignore_http_error_codes", "approximated", _FAILING),
    Field("ignore_timeout_errors", "approximated", _FAILING),
    Field("ignore_too_many_redirects", "approximated", _FAILING),
    Field("max_tries", "approximated", _FAILING),
    Field("no_redirects", "impossible", "redirects are followed"),
    Field("diff_filter", "impossible", _DIFFERENCE),
    Field("diff_filters", "impossible", _DIFFERENCE),
    Field("diff_tool", "impossible", _DIFFERENCE),
    Field("differ", "impossible", _DIFFERENCE),
    Field("additions_only", "impossible", "that something is gone counts too"),
    Field("deletions_only", "impossible", "that something was added counts too"),
    Field("compared_versions", "approximated", "a text that an earlier look had shown is never told again"),
    Field("treat_new_as_changed", "impossible", "what is there at first is told to nobody"),
    Field("user_visible_url", "impossible", "an event leads to the address that is watched"),
    Field("url_for_human", "impossible", "an event leads to the address that is watched"),
    Field("note", "impossible", "a source has a title and tags only"),
    Field("is_markdown", "exact", "text is what is compared"),
    Field("monospace", "exact", "text is what is compared"),
)
CARRIED: Final = frozenset(
    (
        "name",
        "url",
        "navigate",
        "command",
        "kind",
        "filter",
        "filters",
        "tags",
        "enabled",
        "use_browser",
        "method",
        "data",
        "headers",
        "cookies",
        "http_credentials",
    )
)
BROWSER: Final = frozenset(
    ("wait_until", "wait_for", "wait_for_navigation", "wait_for_url", "wait_for_selector", "wait_for_function",
     "wait_for_timeout", "block_elements", "user_data_dir", "switches", "chromium_revision", "initialization_url",
     "initialization_js", "evaluate", "useragent")
)  # fmt: skip
"""Browser directives, which need no notes apart from that on rendering."""


def read_urlwatch(data: bytes) -> Plan:
    """Return the plan of a file of jobs; a document may also be a list. Raises NotReadable."""
    drafting = Drafting()
    number = 0
    found = list(documents(data))
    told = [
        one
        for line, document in found
        if is_settings(document)
        for one in reporters(drafting, f"report (line {line})", document)
    ]
    for line, document in found:
        if is_settings(document):
            continue
        for job in document if isinstance(document, list) else [document]:
            number += 1
            if number > MOST_ITEMS:
                raise NotReadable(f"It has more than {MOST_ITEMS} jobs.")
            if not isinstance(job, dict):
                raise NotReadable(f"Line {line}: a job is names with values, such as `url: https://example.org/`.")
            _job(drafting, f"job {number} (line {line})", job, told)
    if told and not number:
        drafting.note(
            "report", "reporter", "impossible", "there are no jobs: put both files into one, `---` between them"
        )
    return drafting.plan("urlwatch")


def _job(drafting: Drafting, place: str, job: Mapping[str, Any], told: Sequence[DestinationBody]) -> None:
    kind = text(job, "kind")
    if job.get("command") or kind in ("shell", "command"):
        drafting.note(place, "command", "impossible", "no command is run; what it asks for may have an address")
        return
    data = job.get("data")
    method = (text(job, "method") or ("POST" if data else "GET")).upper()
    if method not in {"GET", "POST"}:
        drafting.note(place, "method", "impossible", UNSUPPORTED)
        return
    address = text(job, "url") or text(job, "navigate")
    if not address:
        drafting.note(
            place, "url", "impossible", "it has none" if kind in ("", "url") else f"a job of kind {kind[:40]}"
        )
        return
    found = filtered(drafting, place, job.get("filters", job.get("filter")))
    url = drafting.source(
        place,
        address,
        title=text(job, "name"),
        tags=_tags(job.get("tags")),
        selectors=found.selectors,
        ignore=found.ignore,
        headers=_request(drafting, place, job, data if method == "POST" else None),
        shown=_shown(drafting, place, job, posts=method == "POST"),
        enabled=truth(job.get("enabled", True)),
    )
    if url is None:
        return
    tell_of(drafting, place, job, FIELDS)
    known = CARRIED | BROWSER | {field.name for field in FIELDS}
    for name in job:
        if name not in known:
            drafting.note(place, shortened(name, 40), "impossible", "a directive that is not known here")
    try:
        query = whole(*found.queries)
    except Unsayable as error:
        drafting.note(place, "filter", "impossible", str(error))
        return
    if query or told:
        drafting.alert(place, url, named("urlwatch", query), told)


def _shown(drafting: Drafting, place: str, job: Mapping[str, Any], *, posts: bool) -> Shown:
    """Return whether a browser renders the page, and the element to wait for."""
    if not (job.get("navigate") or text(job, "kind") == "browser" or truth(job.get("use_browser"))):
        return PLAIN
    waits = next((job[name] for name in ("wait_for_selector", "wait_for") if name in job), "")
    wait_for = waits.get("selector") if isinstance(waits, Mapping) else waits
    return shown(drafting.note, place, "browser", str(wait_for) if isinstance(wait_for, str) else "", posts=posts)


def _request(drafting: Drafting, place: str, job: Mapping[str, Any], data: Any) -> str | None:
    """Return a job's request. data: the body to post, None for a GET; a mapping is a form."""
    user, _, password = text(job, "http_credentials").partition(":")
    pairs = [*pairs_of(job.get("headers")), *cookies_of(job.get("cookies")), *basic_of(user, password)]
    posted = urlencode(data) if isinstance(data, Mapping) else "" if data is None else str(data)
    is_post = data is not None or (text(job, "method").upper() == "POST")
    return request_of(drafting, place, pairs, body=posted if is_post else None)


def _tags(value: Any) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]
