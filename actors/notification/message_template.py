"""A message template: a user's own message text, in Jinja's language, filled in with the values of a notification.

A page's text is plain here, and escaped when it enters the output, after all filters: only the template has markup.
`MarkupText` is already marked up.

It runs in a worker with little processor time and output, so endless loops are harmless. Only the part of the language
that puts values into text is supported: no calls, macros or imports, and no operators that make a text of any length.
Templates are only the user's own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from importlib.resources import files
from math import isfinite, prod
from typing import Any, Final, TypeVar

import msgspec
from jinja2 import ChainableUndefined, Template, TemplateError, Undefined, meta, nodes
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer
from msgspec import Struct

from actors.content.errors import ContentError
from actors.notification.dialects import DIALECTS, MEASURES, Dialect, TextLimits, cut, one_line
from actors.notification.fitting import difference_lines, text_of
from actors.notification.headline import DiffLine, KindLine, Notification, NotificationItem
from actors.notification.message_language import MessageTexts

T = TypeVar("T")


class MarkupText(str):
    """Text in the dialect of its service. Anything derived from it (a part, a sum) is plain text again."""

    __slots__ = ()


_FILE: Final = tomllib.loads(files("actors.notification").joinpath("message_template.toml").read_text("utf-8"))
OF_EVENTS: Final[dict[str, str]] = _FILE["events"]
"""Each value of one event, with its description. For a digest: of its first event."""
OF_MESSAGES: Final[dict[str, str]] = _FILE["messages"]  # each value of the message as a whole
NAMES: Final = frozenset(OF_EVENTS) | frozenset(OF_MESSAGES)
PARTS: Final = frozenset({"before", "after", "place", "kind", "label"})
_MEASURED: Final = ("title", "summary", "link")


def values_of(notification: Notification, limits: TextLimits, room: int) -> dict[str, Any]:
    """Return the values of a notification by name. No text is longer than `room`, nor a whole list."""
    events = [_event(item, limits, room, notification.texts) for item in notification.items]
    first = events[0] if events else dict.fromkeys(OF_EVENTS, "")
    return first | {
        "title": cut(notification.title if notification.is_digest else first["title"], room),
        "text": MarkupText(text_of(notification, limits.dialect, room, limits.unit, titled=limits.titled)),
        "count": notification.total,
        "events": _first_fitting(events, room, lambda event: sum(len(event[name]) for name in _MEASURED)),
        "service": _address(notification.service, DIALECTS[limits.dialect]),
    }


def _event(item: NotificationItem, limits: TextLimits, room: int, texts: MessageTexts) -> dict[str, Any]:
    dialect = DIALECTS[limits.dialect]
    lines = {sign: [line for line in item.lines if line.sign == sign] for sign in "+-~"}
    difference = _first_fitting(difference_lines(item, dialect, room, texts), room, len)
    return {
        "headline": cut(item.headline, room),
        "title": cut(item.title, room),
        "summary": cut(item.summary, room),
        "content": cut(item.content, room),
        "difference": MarkupText(dialect.line_break.join(difference)),
        "added": _first_fitting((cut(line.after, room) for line in lines["+"]), room, len),
        "removed": _first_fitting((cut(line.before, room) for line in lines["-"]), room, len),
        "changed": [
            {"before": cut(line.before, room), "after": cut(line.after, room), "place": cut(line.place, room)}
            for line in _first_fitting(lines["~"], room, lambda line: len(line.before) + len(line.after))
        ],
        "kinds": [
            {name: cut(text, room) for name, text in kind._asdict().items()}
            for kind in _first_fitting(item.kinds, room, lambda kind: sum(map(len, kind)))
        ],
        "link": _address(item.link, dialect),
        "host": item.host,
        "source": item.source,
        "author": cut(item.author, room),
        "tags": _first_fitting(item.tags, room, len),
        "published": item.published,
        "at": item.at,
        "id": item.id,
        "notice": item.notice,
    }


def _address(url: str, dialect: Dialect) -> MarkupText:
    return MarkupText(dialect.address(url))


def _first_fitting(texts: Iterable[T], room: int, size: Callable[[T], int]) -> list[T]:
    """Return the first items that fit together; at least one."""
    fitting: list[T] = []
    for text in texts:
        room -= size(text)
        if room < 0 and fitting:
            break
        fitting.append(text)
    return fitting


MOST_OUT: Final = 8 << 10  # bytes of a text
LEAST_ROOM: Final = 40  # a value is not cut below this, in characters
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
_STOP: Final = 4 * MOST_OUT
_LANGUAGE: Final = tuple(getattr(nodes, name) for name in _FILE["language"]["nodes"])
FILTERS: Final = tuple(_FILE["language"]["filters"])
_OF_LOOPS: Final = frozenset({"index", "index0", "first", "last", "length", "revindex", "previtem", "nextitem"})
_ATTRIBUTES: Final = PARTS | _OF_LOOPS | frozenset(OF_EVENTS)
_LARGEST_VALUE: Final = 16 * MOST_OUT  # characters and members of one value during filling in
_LARGEST_OUTPUT: Final = 64 * _LARGEST_VALUE  # characters that one filter could make of its input
_TOO_MUCH: Final = "it can't be filled in: a value becomes too long"
_INFINITE: Final = "it can't be filled in: a number is too large"

# A line with only a tag makes no line of text: its end moves into the tag, so that line numbers stay.
_ALONE: Final = re.compile(r"^[ \t]*(\{[%#](?:(?![%#]\}).)*?)([-+]?[%#]\})[ \t]*\n", re.MULTILINE)


class WriteRequest(Struct, frozen=True):
    """Answered by a `RenderedMessage`. template, title: the user's own, either may be ""."""

    template: str
    title: str
    notification: Notification
    limits: TextLimits


class RenderedMessage(Struct, frozen=True):
    """The templates' output, each "" without one: a text in the dialect of the limits, a plain title."""

    text: str
    title: str


def render(request: WriteRequest) -> RenderedMessage:
    """Fill templates in; a text that is too long is made again from shorter values. Raises ContentError."""
    text = _render_text(request) if request.template else ""
    title = ""
    if request.title:
        values = values_of(request.notification, TextLimits(text=request.limits.text), request.limits.title)
        title = cut(one_line(_generate(_compile(request.title, str), values)), request.limits.title)
        if not title:
            raise ContentError("the title is empty")
    return RenderedMessage(text, title)


def _render_text(request: WriteRequest) -> str:
    limits, measure, dialect = request.limits, MEASURES[request.limits.unit], DIALECTS[request.limits.dialect]
    template, room = _compile(request.template, dialect.escape), min(limits.text, MOST_OUT)
    while room >= LEAST_ROOM:
        output = _generate(template, values_of(request.notification, limits, room))
        # Literals may have escapes for half a letter, or for cursor movements. The rest is up to the user.
        text = _CONTROLS.sub("", output.encode("utf-8", "replace").decode()).strip()
        text = text.replace("\n", dialect.line_break)
        if measure(text) <= limits.text and len(text.encode()) <= MOST_OUT:
            if not text:
                raise ContentError("it makes no text")
            return text
        room //= 2
    unit = "bytes" if limits.unit == "bytes" else "characters"
    most = f"{limits.text:,} {unit}" if limits.text < MOST_OUT else "8 KiB"
    raise ContentError(f"it makes more than {most}")


def check(template: str, title: str, limits: TextLimits) -> None:
    """Try templates on an event, a notice and a digest. Raises ContentError."""
    for sample in SAMPLES:
        render(WriteRequest(template, title, sample, limits))


def _generate(template: Template, values: Mapping[str, Any]) -> str:
    """Return a template's output, or its beginning if that is already too long. Raises ContentError."""
    output = ""
    try:
        for piece in template.generate(values):
            output += piece
            if len(output) > _STOP:
                break
    except TemplateError as error:
        raise ContentError(f"it can't be filled in: {error}") from None
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, NameError) as error:
        raise ContentError(f"it can't be filled in: {str(error)[:200]}") from None
    return output


def _compile(source: str, escape: Callable[[str], str]) -> Template:
    """Return a template whose every value is escaped when it becomes text. Raises ContentError."""

    def to_text(value: Any) -> str:
        if isinstance(value, MarkupText):
            return str(value)
        if isinstance(value, (list, tuple)):
            return ", ".join(map(to_text, value))
        if value is None or isinstance(value, Undefined):
            return ""
        if isinstance(value, (str, int, float)):
            return escape(str(value))
        raise ContentError("a value with parts can't be written: name one of its parts")

    environment = _Environment(
        undefined=ChainableUndefined, finalize=lambda value: to_text(_checked_size(value)), cache_size=0
    )
    environment.globals.clear()
    environment.filters = {name: _filter(environment.filters[name]) for name in FILTERS}
    environment.tests = {name: environment.tests[name] for name in _FILE["language"]["tests"]}
    try:
        tree = environment.parse(_ALONE.sub(r"\1\n\2", source))
        _check(tree)
        return environment.from_string(_Joined().visit(tree))
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        raise ContentError(f"{f'line {line}: ' if line else ''}{error.message}") from None
    except RecursionError:
        raise ContentError("it is nested too deeply") from None


class _Environment(ImmutableSandboxedEnvironment):
    """Allows only the attributes open to templates, even inside filters; and no functions."""

    intercepted_binops = frozenset({"+", "-", "/"})

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr in _ATTRIBUTES and not callable(value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        _checked_size((left, right))
        return _checked_size(super().call_binop(context, operator, left, right))


class _Joined(NodeTransformer):
    """Turns `a ~ b` into a filter, so that the bounds of filters apply."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802  # Jinja's name
        parts = nodes.List([self.visit(item) for item in node.nodes], lineno=node.lineno)
        return nodes.Filter(parts, "join", [], [], None, None, lineno=node.lineno)


def _filter(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter with bounded input and output that leaves nothing lazy."""

    @wraps(run)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        # A separator or a replacement may be repeated as often as the text has letters.
        if prod(_size(_checked_size(item)) or 1 for item in (*args, *kwargs.values())) > _LARGEST_OUTPUT:
            raise ContentError(_TOO_MUCH)
        output = run(*args, **kwargs)
        return _checked_size(list(output) if isinstance(output, Iterator) else output)

    return bounded


def _checked_size(value: Any) -> Any:
    """Return a value. Raises ContentError if it is too large, or an infinite number."""
    if isinstance(value, float) and not isfinite(value):
        raise ContentError(_INFINITE)
    if _size(value) > _LARGEST_VALUE:
        raise ContentError(_TOO_MUCH)
    return value


def _size(value: Any) -> int:
    """Return the characters and members of a value, counted up to the bound."""
    if isinstance(value, str):
        return len(value)
    size = 1
    if isinstance(value, (list, tuple)):
        for item in value:
            size += _size(item)
            if size > _LARGEST_VALUE:
                break
    return size


def _check(tree: nodes.Template) -> None:
    for node in tree.find_all((nodes.Node,)):
        if not isinstance(node, _LANGUAGE):
            line = f"line {node.lineno}: " if node.lineno else ""
            part = _FILE["refused"].get(type(node).__name__, "this is")
            raise ContentError(f"{line}{part} not a part of message templates")
        for name in _attribute_names(node):
            if name not in _ATTRIBUTES:
                raise ContentError(f"line {node.lineno}: there is no value named {name}")
        if isinstance(node, nodes.Const) and isinstance(node.value, float) and not isfinite(node.value):
            raise ContentError(f"line {node.lineno}: {_INFINITE}")
    end = tree.body[-1] if tree.body else None
    last = end.nodes[-1] if isinstance(end, nodes.Output) else None
    for literal in tree.find_all((nodes.TemplateData, nodes.Const)):
        text = literal.data if isinstance(literal, nodes.TemplateData) else getattr(literal, "value", None)
        if isinstance(text, str) and text.endswith("@") and literal is not last:
            raise ContentError(f"line {literal.lineno}: an @ right before a value would let a page mention people")
    if any(name.name == "self" for name in tree.find_all(nodes.Name)):  # which Jinja declares itself
        raise ContentError("there is no value named self")
    unknown = sorted(meta.find_undeclared_variables(tree) - NAMES)
    if unknown:
        raise ContentError(f"there is no value named {unknown[0]}; there are: {', '.join(sorted(NAMES))}")


def _attribute_names(node: nodes.Node) -> Sequence[str]:
    if isinstance(node, nodes.Getattr):
        return [node.attr]
    if isinstance(node, nodes.Keyword) and node.key == "attribute":
        return str(node.value.value).split(".") if isinstance(node.value, nodes.Const) else ["an expression"]
    return []


_SAMPLE: Final = _FILE["sample"]
_ITEM: Final = NotificationItem(**_SAMPLE)._replace(
    lines=tuple(DiffLine(*line) for line in _SAMPLE["lines"]),
    tags=tuple(_SAMPLE["tags"]),
    kinds=tuple(KindLine(*kind) for kind in _SAMPLE["kinds"]),
)
_BARE: Final = NotificationItem("0-0", "Test", "Test", "", "", "", "2026-01-01T00:00:00.000Z", notice="source_failing")
SAMPLES: Final = (
    Notification("0-0", _ITEM.headline, (_ITEM,), 1, "https://sanderling.example"),
    Notification("0-0", "Test", (_BARE,), 1),
    Notification("0-0", "2 events", (_ITEM, _BARE), 2, "https://sanderling.example", is_digest=True),
)


def _check_message(request: bytes) -> bytes:
    write_request = msgspec.msgpack.decode(request, type=WriteRequest)
    check(write_request.template, write_request.title, write_request.limits)
    return b""


TASKS: Mapping[str, Callable[[bytes], bytes]] = {
    "write_message": lambda request: msgspec.msgpack.encode(render(msgspec.msgpack.decode(request, type=WriteRequest))),
    "check_message": _check_message,
}
