"""Files as other programs write them, made up for these tests: small, and with some of everything."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

GROUP, WATCH, SECOND, LOGIN = (f"{n}0000000-0000-4000-8000-000000000000" for n in (1, 2, 3, 4))

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday")

WATCHES: dict[str, dict[str, Any]] = {
    WATCH: {
        "url": "https://tides.example/prices",
        "title": "Day tickets",
        "tags": [GROUP],
        "include_filters": ["#prices", "xpath://div[@id='notes']"],
        "subtractive_selectors": [".clock"],
        "trigger_text": ["sold out", "/free|gratis/i", "/[0-9]+ euros/"],
        "text_should_not_be_present": ["maintenance"],
        "ignore_text": ["updated at"],
        "time_between_check": {"weeks": None, "days": None, "hours": "2", "minutes": 30, "seconds": None},
        "time_between_check_use_default": False,
        "fetch_backend": "html_webdriver",
        "headers": {"Authorization": "Basic aGlkZGVu"},
        "notification_urls": ["jsons://hooks.example/tides?-room=1&+X-Token=hidden", "discord://hidden/hidden"],
        "paused": True,
        "filter_text_removed": False,
        "time_schedule_limit": {"enabled": False, "monday": {"enabled": True}},
    },
    SECOND: {
        "url": "https://tides.example/news",
        "title": None,
        "tags": [],
        "time_between_check_use_default": True,
        "include_filters": ["main", "json:$.news"],
        "time_schedule_limit": {
            "enabled": True,
            "timezone": "Europe/Stockholm",
            **{
                day: {"enabled": True, "start_time": "08:00", "duration": {"hours": "10", "minutes": "00"}}
                for day in DAYS
            },
        },
    },
    LOGIN: {"url": "https://tides.example/login", "method": "POST", "body": "user=me"},
}
GROUPS = {GROUP: {"title": "Harbour: north", "subtractive_selectors": ["//footer"], "notification_urls": []}}
SETTINGS: dict[str, Any] = {
    "application": {
        "global_subtractive_selectors": [".ads"],
        "global_ignore_text": ["cookies"],
        "notification_urls": ["posts://hooks.example/all?key=hidden", "mailto://me:hidden@mail.example"],
        "tags": GROUPS,
    },
    "headers": {},
    "requests": {"time_between_check": {"hours": 3}},
}


def old_datastore() -> bytes:
    """`url-watches.json` of before 0.53."""
    return json.dumps({"watching": WATCHES, "settings": SETTINGS, "app_guid": "x"}).encode()


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def new_datastore() -> bytes:
    """A backup from 0.53 on, with the leftovers of the upgrade and the folder of a handmade zip."""
    settings = {**SETTINGS, "application": {**SETTINGS["application"], "tags": {}}}
    files = {
        "datastore/changedetection.json": {"settings": settings},
        f"datastore/{GROUP}/tag.json": GROUPS[GROUP],
        "datastore/url-watches.json": {"watching": {"old": {"url": "https://deleted.example/"}}},
    }
    files |= {f"datastore/{name}/watch.json": watch for name, watch in WATCHES.items()}
    packed = {name: json.dumps(content).encode() for name, content in files.items()}
    return zipped(packed | {"datastore/secret.txt": b"hidden", f"datastore/{WATCH}/1.txt.br": b"..."})


URLWATCH = b"""\
# jobs
name: Day tickets
url: https://tides.example/prices
filter:
  - element-by-id: main
  - css:
      selector: li.price, li.fee
      exclude: .clock
      maxitems: 2
  - html2text
  - grep: (?i)euro
  - re.sub: '[0-9]+'
tags: [harbour, topic:prices]
headers: {Authorization: hidden}
user_visible_url: https://tides.example/
---
name: With a browser
url: https://tides.example/app#2
use_browser: yes
filters: 'xpath:/html/body/main,html2text,strip'
enabled: no
wait_for: 3
enchanted: true
---
command: rm -rf /
name: A command
---
---
navigate: https://tides.example/board
filter:
  - keep_lines_containing: {text: sold out}
  - xpath: "(//h1)[1]"
  - execute: date
"""

OPML = b"""<?xml version="1.0"?><opml version="2.0"><body><outline text="Harbour">
<outline text="Tides" type="rss" xmlUrl="https://tides.example/feed.xml"/></outline></body></opml>"""
