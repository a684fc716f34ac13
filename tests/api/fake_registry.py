"""A registry of sources that answers from a dict."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from actors import messages as m
from actors.errors import Conflict, DomainError, NotFound, Stale
from actors.picking import picks, states_of
from actors.practice.documents import DOCUMENTS, WHATS, What, address
from actors.previews import Preview, Previewed
from storage.records.identity import SourceId
from storage.records.revision import is_expected
from storage.records.source import HotState
from supervision import Mailbox
from tests.support.build import NOW, a_source


class FakeRegistry:
    """Answers as the registry of sources would, from a dict. `refusals` maps a URL to what adding it fails with."""

    def __init__(self) -> None:
        self.mailbox: Mailbox[m.RegistryMessage] = Mailbox("registry", 64)
        self.views: dict[str, m.SourceView] = {}
        self.refusals: dict[str, Exception] = {}
        self.silent: set[str] = set()
        self.seen: list[Any] = []
        self.preview = Preview(NOW)

    async def run(self) -> None:
        while True:
            message = await self.mailbox.receive()
            self.seen.append(message)
            if getattr(message, "url", None) in self.silent:
                continue
            try:
                message.reply.answer(self._handle(message))
            except DomainError as error:
                message.reply.fail(error)

    def _handle(self, message: Any) -> Any:
        match message:
            case m.AddSource():
                return self._add(message)
            case m.DetectUrl():
                if message.url in self.refusals:
                    raise self.refusals[message.url]
                kind = message.type or "feed"
                return Previewed(a_source(1, url=message.url, type=kind).detection, self.preview)
            case m.PreviewSource():
                self._known(message.source)
                return self.preview
            case m.ListSources():
                meant = [view for view in self.views.values() if picks(message.where, view)]
                views = sorted(meant, key=lambda view: (view.hot.health.score, view.source.id))
                start = 0 if message.after is None else int(message.after[1])
                page = views[start : start + message.limit]
                end = start + len(page)
                states = [states_of(view)[0] for view in self.views.values()]
                census = {state: states.count(state) for state in ("rotten", "degraded", "ok", "paused")}
                following = (0, float(end), page[-1].source.id, 0) if end < len(views) else None
                return m.SourcePage(page, following, census)
            case m.ExamineSource():
                view = self.views[self._known(message.source)]
                return m.Examined(view, (m.HealthPart("reach", 1.0, "It answers."),), "Because.", 3600.0)
            case m.DeleteSource():
                self._refuse_stale(message)
                del self.views[self._known(message.source)]
                return None
            case m.CheckNow():
                if not self.views[self._known(message.source)].source.enabled:
                    raise Conflict("The source is disabled.")
                return NOW
            case m.ExplainSource():
                reason = m.Reason("withheld", "Seen and not told.", NOW, None, message.text)
                return m.Explained(self.views[self._known(message.source)], [reason], "All is well.")
            case m.DescribeSource():
                return self.views[self._known(message.source)]
            case m.EditSource():
                return self._edit(message)
            case m.ShowPractice():
                return [self._practice(what) for what in WHATS] if message.start else self._practising()
            case m.ChangePractice():
                return self._practise(message.what)
            case m.EndPractice():
                for view in self._practising():
                    del self.views[view.source.id]
                return None
            case m.Teach():
                return m.Learned(self.views[self._known(message.source)], len(message.texts))
        raise AssertionError(message)

    def _practising(self) -> list[m.SourceView]:
        return [view for view in self.views.values() if view.source.practice is not None]

    def _practice(self, what: What) -> m.SourceView:
        url = address("http://sanderling.test", what)
        for view in self._practising():
            if view.source.url == url:
                return view
        source = a_source(1000 + len(self.views), url=url, type="feed" if what == "feed" else "html", practice=0)
        view = self.views[source.id] = m.SourceView(source, HotState())
        return view

    def _practise(self, what: What) -> m.Practised:
        view = self._practice(what)
        source = replace(view.source, practice=(view.source.practice or 0) + 1)
        view = self.views[source.id] = m.SourceView(source, view.hot)
        return m.Practised(view, DOCUMENTS[what].says(source.practice or 0))

    def _known(self, source: SourceId) -> str:
        if source not in self.views:
            raise NotFound("There is no such source.")
        return source

    def _refuse_stale(self, message: m.EditSource | m.DeleteSource) -> None:
        if not is_expected(self.views[self._known(message.source)].source, message.expected):
            raise Stale

    def _add(self, message: m.AddSource) -> m.Added:
        refusal = self.refusals.get(message.url)
        may_pass = isinstance(refusal, DomainError) and refusal.may_pass
        if refusal is not None and not (message.later and may_pass):
            raise refusal
        for view in self.views.values():
            if view.source.url == message.url:
                return m.Added(view, created=False)
        number = len(self.views) + 1
        source = a_source(
            number,
            url=message.url,
            tags=(*message.tags, *message.mark),
            selector=message.selector,
            ignore=message.ignore,
            schedule=message.schedule,
            bar=message.bar,
            type=message.type or "feed",
            subprotocols=message.subprotocols,
            hello=message.hello,
            title=message.title,
        )
        if refusal is not None:
            source = replace(source, detection=replace(source.detection, pending=True))
        view = self.views[source.id] = m.SourceView(source, HotState())
        return m.Added(view, created=True)

    def _edit(self, message: m.EditSource) -> m.SourceView:
        self._refuse_stale(message)
        view = self.views[message.source]
        edit = message.edit
        changes = {
            name: getattr(edit, name)
            for name in (
                "type",
                "enabled",
                "tags",
                "selector",
                "ignore",
                "schedule",
                "bar",
                "subprotocols",
                "hello",
                "title",
            )
            if getattr(edit, name) is not None
        }
        changes |= dict.fromkeys(edit.clear)
        view = self.views[message.source] = m.SourceView(replace(view.source, **changes), view.hot)
        return view
