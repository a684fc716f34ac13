"""A local server with documents that a test sets; it records each POST."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from xml.sax.saxutils import escape


@dataclass(frozen=True)
class Answer:
    body: str
    status: int = 200
    reason: str = ""
    media: str = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Entry:
    title: str
    text: str = ""
    link: str = ""
    author: str = ""
    tag: str = ""


@dataclass
class Origin:
    """`says`: the current documents by path. `taken`: the posted bodies with their paths."""

    url: str
    says: dict[str, Answer] = field(default_factory=dict)
    taken: list[tuple[str, bytes]] = field(default_factory=list)

    def page(self, path: str, title: str, paragraphs: Sequence[str]) -> str:
        text = "".join(f"<p>{escape(one)}</p>" for one in paragraphs)
        head = f"<meta charset=utf-8><title>{escape(title)}</title>"
        self.says[path] = Answer(f"<!doctype html><html><head>{head}</head><body><main>{text}</main></body></html>")
        return self.url + path

    def feed(self, path: str, title: str, entries: Sequence[Entry]) -> str:
        """Serve these entries, the newest last, and return the URL."""
        began = datetime.now(UTC) - timedelta(minutes=len(entries))
        items = "".join(_item(one, began + timedelta(minutes=number)) for number, one in enumerate(entries))
        space = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
        channel = f"<channel><title>{escape(title)}</title>{items}</channel>"
        self.says[path] = Answer(f'<rss version="2.0" {space}>{channel}</rss>', media="application/rss+xml")
        return self.url + path


def _item(entry: Entry, at: datetime) -> str:
    guid = f"{entry.title} {entry.link}"
    parts = {"title": entry.title, "description": escape(entry.text), "dc:creator": entry.author, "category": entry.tag}
    texts = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in parts.items() if text)
    link = f"<link>{escape(entry.link)}</link>" if entry.link else ""
    date = f"<pubDate>{format_datetime(at)}</pubDate>"
    return f'<item>{texts}{link}<guid isPermaLink="false">{escape(guid)}</guid>{date}</item>'


@contextmanager
def an_origin() -> Iterator[Origin]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            origin.taken.append((self.path, self.rfile.read(int(self.headers.get("Content-Length", 0)))))
            self._answer()

        def _answer(self) -> None:
            said = origin.says.get(self.path.partition("?")[0], Answer("nothing", 404))
            body = said.body.encode("utf-8", "replace")
            self.send_response(said.status, said.reason or None)
            self.send_header("Content-Type", said.media)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    origin = Origin(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield origin
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
