"""A registry of sources that answers from a dict."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec.structs import replace

from actors.destination_kinds.kind import check_named, of_source
from actors.errors import Conflict, DomainError, NotFound, Stale
from actors.messages.requests import Preview, Previewed, settings_of
from actors.messages.sources import (
    AddSource,
    ChangePractice,
    CheckNow,
    CountTags,
    DeleteSource,
    DescribeSource,
    DetectUrl,
    EditSource,
    EndPractice,
    ExamineSource,
    ExplainSource,
    GetReportedPage,
    ListSources,
    PreviewSource,
    RegistryMessage,
    RestoreSource,
    SetTagDefaults,
    ShowPractice,
    Teach,
)
from actors.messages.views import (
    AddedSource,
    HealthPart,
    PracticeChange,
    Reason,
    ReportedPage,
    SourceExamination,
    SourceExplanation,
    SourcePage,
    SourceView,
    TeachResult,
    folders_of,
    matches,
)
from actors.practice import DOCUMENTS, PRACTICE_KINDS, PracticeKind, address
from actors.sources.registry.service import changed
from extras.picking.operations import PickFromSource, PickFromUrl
from extras.picking.records import Picked, PickPage
from storage.errors import StorageError
from storage.records.identity import SourceId
from storage.records.message import Message
from storage.records.revision import is_expected
from storage.records.source import OWN_NAMESPACES, SOURCES, SourceRuntime, TagDefaults
from storage.sql.storage import Storage
from supervision import Mailbox
from tests.support.build import NOW, a_source


class FakeRegistry:
    """refusals: errors by the URL that a request names.

    silent: URLs and message names that get no answer. led_to: the final URL of a detection.
    """

    def __init__(self) -> None:
        self.mailbox: Mailbox[RegistryMessage] = Mailbox("registry", 64)
        self.views: dict[str, SourceView] = {}
        self.refusals: dict[str, Exception] = {}
        self.silent: set[str] = set()
        self.seen: list[Any] = []
        self.told: dict[str, ReportedPage] = {}
        self.deleted: dict[str, SourceView] = {}
        self.preview = Preview(NOW)
        self.led_to: str | None = None
        self.storage: Storage | None = None
        self.picked = Picked(NOW, PickPage("Page", "html", 0, 0, 0, (), "", None))

    async def run(self) -> None:
        while True:
            message = await self.mailbox.receive()
            self.seen.append(message)
            if _name_of(message) in self.silent:
                continue
            try:
                if isinstance(message, SetTagDefaults):
                    message.reply.answer(await self._set(message))
                else:
                    message.reply.answer(self._handle(message))
            except (DomainError, StorageError) as error:
                message.reply.fail(error)

    def _handle(self, message: Any) -> Any:
        match message:
            case AddSource():
                return self._add(message)
            case DetectUrl():
                url = message.request.url
                if url in self.refusals:
                    raise self.refusals[url]
                kind = message.request.type or "feed"
                found = a_source(1, url=url, type=kind).detection
                return Previewed(replace(found, final_url=self.led_to or url), self.preview)
            case PickFromUrl():
                if message.request.url in self.refusals:
                    raise self.refusals[message.request.url]
                return self.picked
            case PickFromSource():
                if message.source in self.refusals:
                    raise self.refusals[self._known(message.source)]
                return self.picked
            case PreviewSource():
                self._known(message.source)
                return self.preview
            case ListSources():
                return self._list(message)
            case CountTags():
                return Counter(tag for view in self.views.values() for tag in folders_of(view.source.tags))
            case ExamineSource():
                parts = (HealthPart("reach", 1.0, Message("It answers.")),)
                return SourceExamination(self.views[self._known(message.source)], parts, Message("Because."), 3600.0)
            case DeleteSource():
                self._refuse_stale(message)
                self.deleted[message.source] = self.views.pop(self._known(message.source))
                return None
            case RestoreSource():
                return self._restored(message.source)
            case CheckNow():
                if not self.views[self._known(message.source)].source.enabled:
                    raise Conflict("The source is disabled.")
                return NOW
            case ExplainSource():
                reason = Reason("withheld", Message("Seen, not reported."), NOW, None, message.text)
                return SourceExplanation(self.views[self._known(message.source)], [reason], Message("All is well."))
            case GetReportedPage():
                return self.told.get(self._known(message.source))
            case DescribeSource():
                return self.views[self._known(message.source)]
            case EditSource():
                return self._edit(message)
            case ShowPractice():
                return [self._practice(what) for what in PRACTICE_KINDS] if message.start else self._practising()
            case ChangePractice():
                return self._practise(message.what)
            case EndPractice():
                for view in self._practising():
                    del self.views[view.source.id]
                return None
            case Teach():
                return TeachResult(self.views[self._known(message.source)], len(message.texts))
        raise AssertionError(message)

    async def _set(self, wish: SetTagDefaults) -> TagDefaults | None:
        assert self.storage is not None, "a house has one"
        return await self.storage.tag_defaults.edit(wish.tag, lambda old: changed(old, wish, NOW))

    def _practising(self) -> list[SourceView]:
        return [view for view in self.views.values() if view.source.practice is not None]

    def _practice(self, what: PracticeKind) -> SourceView:
        url = address("http://sanderling.test", what)
        for view in self._practising():
            if view.source.url == url:
                return view
        source = a_source(1000 + len(self.views), url=url, type="feed" if what == "feed" else "html", practice=0)
        view = self.views[source.id] = SourceView(source, SourceRuntime())
        return view

    def _practise(self, what: PracticeKind) -> PracticeChange:
        view = self._practice(what)
        source = replace(view.source, practice=(view.source.practice or 0) + 1)
        view = self.views[source.id] = SourceView(source, view.hot)
        return PracticeChange(view, DOCUMENTS[what].says(source.practice or 0))

    def _known(self, source: SourceId) -> str:
        if source not in self.views:
            raise NotFound("There is no such source.")
        return source

    def _list(self, message: ListSources) -> SourcePage:
        meant = [view for view in self.views.values() if matches(message.where, view)]
        views = sorted(meant, key=lambda view: (view.hot.health.score, view.source.id))
        if message.sort.endswith("name"):
            backwards = message.sort.startswith("-")
            views = sorted(meant, key=lambda view: view.source.called.casefold(), reverse=backwards)
        start = 0 if message.after is None else int(message.after[1])
        page = views[start : start + message.limit]
        end = start + len(page)
        states = [view.state for view in self.views.values()]
        census = {state: states.count(state) for state in SOURCES}
        following = (0, float(end), page[-1].source.id, 0) if end < len(views) else None
        return SourcePage(page, following, census)

    def _restored(self, source: SourceId) -> SourceView:
        if source not in self.deleted:
            raise NotFound("There is no such deleted source.")
        self.views[source] = self.deleted.pop(source)
        return self.views[source]

    def _refuse_stale(self, message: EditSource | DeleteSource) -> None:
        if not is_expected(self.views[self._known(message.source)].source, message.expected):
            raise Stale

    def _add(self, message: AddSource) -> AddedSource:
        new = message.new
        refusal = self.refusals.get(new.url)
        may_pass = isinstance(refusal, DomainError) and refusal.may_pass
        if refusal is not None and not (new.verify == "later" and may_pass):
            raise refusal
        for view in self.views.values():
            if view.source.url == new.url:
                tags = tuple(dict.fromkeys((*view.source.tags, *message.mark)))
                marked = self.views[view.source.id] = SourceView(replace(view.source, tags=tags), view.hot)
                return AddedSource(marked, created=False)
        given = settings_of(new) | {"tags": (*new.tags, *message.mark), "type": new.type or "feed"}
        source = a_source(len(self.views) + len(self.deleted) + 1, **given, updated_by=message.by)
        if refusal is not None:
            source = replace(source, detection=replace(source.detection, pending=True))
        view = self.views[source.id] = SourceView(source, SourceRuntime())
        return AddedSource(view, created=True)

    def _edit(self, message: EditSource) -> SourceView:
        self._refuse_stale(message)
        view = self.views[message.source]
        edited = replace(view.source, **settings_of(message.patch), updated_by=message.by)
        own = [tag for tag in view.source.tags if tag.partition(":")[0] in OWN_NAMESPACES]
        edited = replace(edited, tags=tuple(dict.fromkeys((*edited.tags, *own))))
        check_named(of_source(view.source), of_source(edited), settings_of(message.patch))
        view = self.views[message.source] = SourceView(edited, view.hot)
        return view


def _name_of(message: Any) -> str:
    match message:
        case AddSource():
            return message.new.url
        case DetectUrl():
            return message.request.url
        case _:
            return type(message).__name__
