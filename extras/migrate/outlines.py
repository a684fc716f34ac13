"""Lists of feeds (OPML), the export of every feed reader. Pure; uses the service's own parser."""

from __future__ import annotations

from actors.content.bodies.outlines import read_outline
from actors.content.errors import ContentError
from extras.migrate.drafting import Drafting
from extras.migrate.lists import MOST_LINES
from extras.migrate.plan import NotReadable, Plan, shortened


def read_opml(data: bytes) -> Plan:
    """Folders and categories become tags. Raises NotReadable."""
    try:
        outline = read_outline(data, MOST_LINES)
    except ContentError as error:
        raise NotReadable(error.reason) from None
    drafting = Drafting()
    for number, line in enumerate(outline.feeds, 1):
        drafting.source(f"feed {number}", line.url, title=line.title, tags=line.tags)
    for address in outline.lists:
        drafting.note(
            "the file", "list", "impossible", f"{shortened(address, 120)}: a list that it names is not followed"
        )
    if outline.left_out:
        says = f"{outline.left_out} feeds after the first {MOST_LINES} are not read: split it"
        drafting.note("the file", "feeds", "impossible", says)
    return drafting.plan("opml")
