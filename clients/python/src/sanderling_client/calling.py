"""One call: what is sent, what comes back, and what a refusal is. Nothing here waits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from types import GenericAlias
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from sanderling_client.problems import AnswerError, ProblemError
from sanderling_client.records import Problem
from sanderling_client.refusals import REFUSALS

T = TypeVar("T")


class Page(list[T]):
    """Some of a list, and the `cursor` of what comes after it; None at its end. `Client.each` goes through all."""

    next_cursor: str | None = None


class Asks(ABC):
    """What operations are made of."""

    @abstractmethod
    def _ask(
        self,
        method: str,
        path: str,
        kinds: Sequence[Any] = (),
        *,
        paged: bool = False,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Any:
        """Make one call. kinds: what the answer may be; paged: it is a page of the one."""


class AsyncAsks(ABC):
    """What awaited operations are made of."""

    @abstractmethod
    async def _ask(
        self,
        method: str,
        path: str,
        kinds: Sequence[Any] = (),
        *,
        paged: bool = False,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Any:
        """Make one call. kinds: what the answer may be; paged: it is a page of the one."""


def part(value: str, safe: str = "") -> str:
    """Return a value as a part of a path.

    >>> part("a/b?")
    'a%2Fb%3F'
    """
    return quote(value, safe=safe)


Pairs = list[tuple[str, str | int | float | bool | None]]
"""A query or headers, as httpx takes them."""


def given(values: Mapping[str, Any] | None) -> Pairs:
    """Return what was given of a query or of headers, lists as one pair for each item."""
    pairs: Pairs = []
    for name, value in (values or {}).items():
        if value is not None:
            several = value if isinstance(value, (list, tuple)) else (value,)
            pairs += [(name, str(one).lower() if isinstance(one, bool) else str(one)) for one in several]
    return pairs


def request_of(
    http: httpx.Client | httpx.AsyncClient,
    method: str,
    path: str,
    *,
    body: Any,
    query: Mapping[str, Any] | None,
    headers: Mapping[str, str | None] | None,
) -> httpx.Request:
    """Return a request."""
    fields = {name: value for name, value in (headers or {}).items() if value is not None}
    content = None
    if body is not None:
        content = msgspec.json.encode(body)
        fields["Content-Type"] = "application/json"
    return http.build_request(method, path, params=given(query) or None, headers=fields, content=content)


def answer_of(answer: httpx.Response, kinds: Sequence[Any], *, paged: bool) -> Any:
    """Return what an answer holds. Raises ProblemError, AnswerError."""
    if not answer.is_success:
        raise refusal_of(answer)
    if not kinds:
        return None
    if kinds[0] is str:
        return answer.text
    if not paged:
        return decoded(answer.content, tuple(kinds))
    page: Page[Any] = Page(decoded(answer.content, (GenericAlias(list, (kinds[0],)),)))
    following = answer.links.get("next", {}).get("url")
    page.next_cursor = httpx.URL(following).params.get("cursor") if following else None
    return page


def decoded(body: bytes, kinds: tuple[Any, ...]) -> Any:
    """Return JSON as the first of some types that it fits. Unknown fields are ignored. Raises AnswerError."""
    for kind in kinds:
        try:
            return _decoder(kind).decode(body)
        except msgspec.DecodeError as error:
            why = error
    raise AnswerError(f"The answer is not as the description says: {why}") from why


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def refusal_of(answer: httpx.Response) -> ProblemError:
    """Return the error of an answer, whose body was read; one of a stranger is a problem without a kind."""
    try:
        problem = _decoder(Problem).decode(answer.content)
    except msgspec.DecodeError:
        reason = answer.reason_phrase or f"HTTP {answer.status_code}"
        detail = answer.text[:200]
        problem = Problem(schema="", type="about:blank", title=reason, status=answer.status_code, detail=detail)
    slug = problem.type.rpartition("/")[2]
    return REFUSALS.get(slug, ProblemError)(problem, answer.headers)
