"""Prints the TypeScript client's generated files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from clients.generate.model import Api, Field, Operation, Record, Type, camel, plural

HEAD = """// {says}
// Generated from the description of the API (`make clients`); edits are lost.

"""
_PLAIN = {"text": "string", "int": "number", "float": "number", "bool": "boolean", "null": "null", "any": "unknown"}
WIDTH = 116


def records(api: Api) -> str:
    """Return `records.ts`."""
    head = HEAD.format(says="The records of the API: what is sent in requests, and what is answered.")
    slugs = "".join(f'\n  | "{one.slug}"' for one in api.refusals)
    head += "/** The kinds of problems, by the end of their `type`; a later version may have more. */\n"
    head += f"export type Slug ={slugs}\n"
    return head + "  | (string & {});\n\n" + "\n".join(_record(one) for one in api.records)


def operations(api: Api) -> str:
    """Return `operations.ts`."""
    head = HEAD.format(says="The operations of the API as methods.")
    head += 'import { type Asks, type Page, type Sends, part } from "./calling.js";\n'
    head += 'import type * as r from "./records.js";\n\n'
    head += "/** Every operation, one call each. */\nexport abstract class Operations implements Asks {\n"
    head += "  abstract ask<T>(method: string, path: string, sends?: Sends): Promise<T>;\n"
    head += "  abstract page<T>(method: string, path: string, sends?: Sends): Promise<Page<T>>;\n\n"
    return head + "\n".join(_method(one) for one in api.operations) + "}\n"


def _record(record: Record) -> str:
    lines = [*_doc(record.says or record.name), f"export interface {record.name} {{"]
    for one in record.fields:
        if one.says:
            lines += _doc(one.says, 2)
        mark = "" if one.required else "?"
        lines.append(f"  {_property(one.name)}{mark}: {_type(one.type, closed=record.asked)};")
    return "\n".join([*lines, "}"]) + "\n"


def _type(one: Type, prefix: str = "", *, closed: bool = True) -> str:
    """Return a type. closed: a set of words is what may be sent; what comes may be a word of a later version."""
    inner = [_type(part, prefix, closed=closed) for part in one.of]
    match one.kind:
        case "record":
            return prefix + one.words[0]
        case "words":
            return " | ".join(f'"{word}"' for word in one.words) + ("" if closed else " | (string & {})")
        case "list":
            return f"Array<{inner[0]}>"
        case "row":
            return f"[{', '.join(inner)}]"
        case "map":
            return f"Record<string, {inner[0]}>"
        case "union":
            return " | ".join(dict.fromkeys(inner))
        case _:
            return _PLAIN[one.kind]


def _method(one: Operation) -> str:
    given = ", ".join(_given(one))
    paged = (item := plural(one.answers)) is not None and one.paged
    gives = _type(item, "r.", closed=False) if paged and item else _gives(one)
    call = f"this.{'page' if paged else 'ask'}<{gives}>"
    sends = ", ".join(_sends(one))
    wraps = f"Page<{gives}>" if paged else gives
    lines = [*_doc(one.says, 2), f"  {one.name}({given}): Promise<{wraps}> {{"]
    return "\n".join([*lines, f"    return {call}({sends});", "  }"]) + "\n"


def _given(one: Operation) -> Iterator[str]:
    """Yield the parameters of a method."""
    for place in one.place:
        yield f"{camel(place.name)}: string"
    if one.body:
        yield "body: " + " | ".join(_type(kind, "r.") for kind in one.body)
    optional = (*one.query, *one.headers)
    if optional:
        yield "options: { " + "; ".join(f"{camel(each.name)}?: {_type(each.type)}" for each in optional) + " } = {}"


def _gives(one: Operation) -> str:
    if not one.answers:
        return "void"
    if not one.media.endswith("json"):
        return "string"
    return " | ".join(_type(kind, "r.", closed=False) for kind in one.answers)


def _sends(one: Operation) -> Iterator[str]:
    """Yield the arguments of the call."""
    path = one.path
    for place in one.place:
        more = ", true" if place.name == "path" else ""  # slashes of a part's path stand as they are
        path = path.replace(f"{{{place.name}}}", f"${{part({camel(place.name)}{more})}}")
    quote = "`" if one.place else '"'
    yield f'"{one.method}"'
    yield f"{quote}{path}{quote}"
    parts = ["body"] if one.body else []
    parts += [
        f"{name}: {{ {_values(fields)} }}"
        for name, fields in (("query", one.query), ("headers", one.headers))
        if fields
    ]
    if one.answers and not one.media.endswith("json"):
        parts.append("text: true")
    if parts:
        yield "{ " + ", ".join(parts) + " }"


def _values(fields: tuple[Field, ...]) -> str:
    return ", ".join(f"{_property(each.name)}: options.{camel(each.name)}" for each in fields)


def _property(name: str) -> str:
    return name if name.replace("_", "").isalnum() else f'"{name}"'


def _doc(says: str, indent: int = 0) -> list[str]:
    """Return a comment for the documentation, as lines."""
    space = " " * indent
    lines = textwrap.wrap(says.replace("*/", "* /"), WIDTH - indent - 4, break_long_words=False, break_on_hyphens=False)
    if len(lines) == 1:
        return [f"{space}/** {lines[0]} */"]
    return [f"{space}/**", *(f"{space} * {line}" for line in lines), f"{space} */"]
