"""Templates for tests."""

from __future__ import annotations

from actors.templates.template import Template, read_template

HEAD = 'id = "own"\nversion = 3\nname = "Own"\nsummary = "A template of my own."\ncategory = "tests"\n'
PAGE = '[[sources]]\nurl = "https://a.example/"\ntype = "html"'


def a_text(*tables: str, head: str = HEAD) -> str:
    """Return the text of a template's file, with one page unless tables are given."""
    return "\n\n".join((head.strip(), *(tables or (PAGE,)))) + "\n"


def a_template(*tables: str, head: str = HEAD) -> Template:
    return read_template(a_text(*tables, head=head), "own.toml")
