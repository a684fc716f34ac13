"""A local origin whose feed, page and socket a test controls."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from quart import Response, websocket
from quart_trio import QuartTrio

PARAGRAPH = "The north beach is where most of the small waders feed while the tide goes out, day after day in winter."


class Origin:
    """`items`: titles in the feed, oldest first. `paragraphs`: of the page. `say`: send to all open sockets."""

    def __init__(self) -> None:
        self.items: list[str] = ["the first note"]
        self.paragraphs: list[str] = [PARAGRAPH, f"Nothing else has been seen. {PARAGRAPH}"]
        self.place = ""
        self.looks = 0
        self._began = datetime.now(UTC)
        self._frames: list[str] = []
        self._more = trio.Event()
        self.app = QuartTrio("origin", static_folder=None)
        self.app.add_url_rule("/feed", view_func=self._feed)
        self.app.add_url_rule("/page", view_func=self._page)
        self.app.add_url_rule("/items.json", view_func=self._json)
        self.app.add_websocket("/socket", view_func=self._socket)

    def say(self, frame: str) -> None:
        self._frames.append(frame)
        self._more.set()
        self._more = trio.Event()

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.place = f"127.0.0.1:{listener.socket.getsockname()[1]}"
        config = Config()
        config.bind = [f"fd://{listener.socket.detach()}"]
        config.errorlog = None
        task_status.started()
        await serve(self.app, config, shutdown_trigger=trio.sleep_forever)

    async def _feed(self) -> Response:
        self.looks += 1
        items = "".join(self._item(number, title) for number, title in reversed(list(enumerate(self.items))))
        body = f'<rss version="2.0"><channel><title>Notes</title>{items}</channel></rss>'
        return Response(body, content_type="text/html")  # wrong, as on real servers: the body decides

    def _item(self, number: int, title: str) -> str:
        """An entry with its own date: many new ones at once are then events, not a feed that has moved."""
        date = format_datetime(self._began + timedelta(seconds=number))
        what = f"<title>{title}</title><guid>{title}</guid><description>About {title}.</description>"
        return f"<item>{what}<pubDate>{date}</pubDate></item>"

    async def _page(self) -> Response:
        text = "".join(f"<p>{paragraph}</p>" for paragraph in self.paragraphs)
        return Response(f"<html><head><title>The beach</title></head><body><main>{text}</main></body></html>")

    async def _json(self) -> Response:
        items = [{"name": name, "price": number} for number, name in enumerate(self.items)]
        return Response(json.dumps({"items": items}), content_type="application/json")

    async def _socket(self) -> None:
        await websocket.accept()
        told = 0
        while True:
            more = self._more
            for frame in self._frames[told:]:
                await websocket.send(frame)
                told += 1
            await more.wait()
