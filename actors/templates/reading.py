"""The reading of a template from the text of a TOML file. Pure."""

from __future__ import annotations

from actors.catalogue.reading import read_file
from actors.templates.checks import check
from actors.templates.template import Template

_CHOICES = {
    "parameters": ": write domain or string",
    "sources": ": write push, feed or html",
    "alerts": ": write change, added, removed or page",
}


def read_template(text: str, file: str) -> Template:
    """Return the template in a file; `file` is its name for the errors. Raises BadFile."""
    return read_file(text, file, Template, check, _CHOICES)
