"""The practice feed: the ferry's notices as RSS, newest first; each step adds one."""

from __future__ import annotations

from html import escape
from typing import Final

from actors.practice.notices import notice

_SHOWN: Final = 8
_AT_FIRST: Final = 3


def at(step: int) -> bytes:
    """Return the feed at a step."""
    newest = _AT_FIRST + step - 1
    items = "\n".join(map(_item, range(newest, max(0, newest + 1 - _SHOWN) - 1, -1)))
    return _FEED.format(items=items).encode()


def says(step: int) -> str:
    """Return the text about a step's change.

    >>> says(1)
    'An entry was added, in French.'
    """
    return f"An entry was added, in {notice(_AT_FIRST + step - 1).tongue}."


def _item(number: int) -> str:
    told = notice(number)
    guid = f'<guid isPermaLink="false">urn:sanderling:practice:{number}</guid>'
    return (
        f"    <item>{guid}<title>{escape(told.title)}</title><description>{escape(told.text)}</description>"
        f"<dc:language>{told.language}</dc:language></item>"
    )


_FEED: Final = """\
<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel>
    <title>Practice: notices of the Sandwick ferry</title>
    <description>There is no such ferry. Your own Sanderling serves this feed, so that you can add to it.</description>
{items}
  </channel>
</rss>
"""
