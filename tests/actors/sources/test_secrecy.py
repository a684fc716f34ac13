"""Tokens planted in watched URLs, and in everything they lead to, never appear in logs or messages."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping

import trio

from actors.errors import DomainError
from actors.notices import notice_draft
from actors.overseer.rows import first_line
from sanderling.logs import make_log
from tests.actors.sources.harness import ADDRESS, SITE, Origin, Watching, page, rss, watching
from tests.support.memory_network import Answer, ReceivedRequest

PLANTED = "pl4nt3dSecret"
RANDOM = "9f86d081884c7d659a2feaa0c55ad015"
BELOW = f"feeds/{RANDOM}"
QUERY = f"?page=1&access_token={PLANTED}"
Fault = Callable[[ReceivedRequest], Answer]


def moved(to: str) -> Fault:
    return lambda _: Answer(302, b"", {"location": to})


def forbidden(asked: ReceivedRequest) -> Answer:
    return Answer(200, f"User-agent: *\nDisallow: /*token={PLANTED}\n".encode())


FAULTS: Mapping[str, Fault] = {
    "gone": lambda _: Answer(404, PLANTED.encode()),
    "down": lambda _: Answer(500, b""),
    "cut": lambda _: Answer(200, rss("a") * 40, cut=20),
    "no document": lambda _: Answer(200, b"\x00\x01\x02" * 900, {"content-type": f"image/x; key={PLANTED}"}),
    "password": moved(f"https://anna:{PLANTED}@{SITE}/elsewhere"),
    "inside": moved(f"http://127.0.0.1/{QUERY}"),
    "nowhere": moved(f"https://nowhere.example/{BELOW}{QUERY}"),
    "no scheme": moved(f"gopher://{SITE}/{QUERY}"),
    "around": moved(f"/{BELOW}/around{QUERY}"),
    "log in": moved(f"/login?next=/&session={PLANTED}"),
    "login": lambda _: Answer(200, page("Sign in"), {"content-type": "text/html"}),
}


class Hostile(Origin):
    """Healthy until it is `ill`; then each source has the fault that its path names."""

    ill = False

    def __call__(self, asked: ReceivedRequest) -> Answer:
        path = asked.target.partition("?")[0].rpartition("/")[2].replace("-", " ")
        if asked.target == "/robots.txt" and self.ill:
            return forbidden(asked) if asked.headers.get("host") == "forbids.example" else Answer(404, b"")
        if self.ill and path in FAULTS:
            return FAULTS[path](asked)
        return Answer(404, b"") if asked.target == "/robots.txt" else Answer(200, rss("a"))


def sentences(service: Watching) -> list[str]:
    """Return all texts about the sources, except their addresses."""
    said = []
    for source in service.disk.sources():
        view = service.registry.table.describe(source)
        hot, detection = view.hot, view.source.detection
        said += [hot.health.reason, hot.last_error or "", detection.evidence, first_line(repr(view))]
    return said


def logged(service: Watching) -> list[str]:
    """Return the lines that the real log writes."""
    stream = io.StringIO()
    log = make_log(stream, lambda: 1.5, level="debug", words=False, colour=False)
    for name, fields in service.logged:
        log(name, **fields)
    return stream.getvalue().splitlines()


async def test_x20_a_secret_in_a_url_is_never_logged_or_shown(autojump_clock: object) -> None:
    origin = Hostile()
    async with watching(origin, host_rate=100.0) as (service, _):
        service.network.names["forbids.example"] = [(ADDRESS,)]
        urls = [f"https://{SITE}/{BELOW}/{name.replace(' ', '-')}{QUERY}" for name in FAULTS]
        for url in (*urls, f"https://forbids.example/{BELOW}/feed{QUERY}"):
            await service.add(url)
        origin.ill = True
        refused = []
        for url in (*urls, f"https://anna:{PLANTED}@{SITE}/", f"ftp://{SITE}/{QUERY}", f"https://127.0.0.1/{QUERY}"):
            try:
                await service.add(f"{url}&again=1")
            except DomainError as error:
                refused.append(f"{error.detail} {getattr(error, 'inside', '')}")
        await trio.sleep(900)
        told = notice_draft(
            "source_moved", urls[0], f"{urls[1]} has moved", f"It is at {urls[2]} now.", service.world.now()
        )
        everything = {
            "a log line": logged(service),
            "a sentence": sentences(service),
            "a refusal": refused,
            "a notice": [told.title, told.content],
        }
        assert all(everything.values())
        assert [
            (place, text) for place, texts in everything.items() for text in texts if PLANTED in text or RANDOM in text
        ] == []
