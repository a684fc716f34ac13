"""A reader turns any file into a plan that the service accepts, or refuses it with a reason."""

from __future__ import annotations

import json
import re
import time
import zlib
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.messages.requests import NewSource
from actors.query import parse
from api.fields.alerts import NewAlert
from api.fields.destinations import NewDestination
from extras.migrate import changedetection, detection, drafting, lists
from extras.migrate.detection import kind_of
from extras.migrate.drafting import Kind, NotReadable, Plan, wire
from extras.migrate.execution import as_json, as_text
from extras.migrate.reading import READERS, read
from extras.migrate.urlwatch import documents
from tests.extras.migrate import samples

SAMPLES: dict[Kind, bytes] = {
    "urls": b"https://tides.example/ a, b | c\n",
    "csv": b"url,title\nhttps://tides.example/,x\n",
    "opml": samples.OPML,
    "changedetection": samples.old_datastore(),
    "urlwatch": samples.URLWATCH,
}
ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30), st.just("/a|(b/"), st.just("x" * 5000),
    st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=3), st.just({"a": []}), st.just({"selector": 1}),
    st.just(10**400), st.just(1e300),
)  # fmt: skip


def check(plan: Plan) -> None:
    """Check a plan against the API's bounds, and its references to its own parts."""
    urls = [source.body.url for source in plan.sources]
    assert len(urls) == len(set(urls))
    for source in plan.sources:
        msgspec.convert(wire(source.body), NewSource)
    named = [(alert.body.name, alert.body.filter_query) for alert in plan.alerts]
    assert len(named) == len(set(named))
    for alert in plan.alerts:
        msgspec.convert(wire(alert.body), NewAlert)
        parse(alert.body.filter_query, alert.body.language)
        assert alert.urls and set(alert.urls) <= set(urls)
        for destination in alert.destinations:
            msgspec.convert(wire(destination), NewDestination)
    assert all(finding.says for finding in plan.findings if finding.grade != "exact")
    assert list(as_text(plan)) and all(json.loads(line) for line in as_json(plan))


def test_every_kind_has_a_reader_and_a_sample() -> None:
    assert set(READERS) == set(SAMPLES)
    for kind, data in SAMPLES.items():
        assert kind_of(data) == kind
        check(read(kind, data))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_a_damaged_file_is_read_or_refused(kind: Kind, data: st.DataObject) -> None:
    sound = SAMPLES[kind]
    at = data.draw(st.integers(0, len(sound)))
    damaged = sound[:at] + data.draw(st.binary(max_size=8)) + sound[at + data.draw(st.integers(0, 8)) :]
    for other in (kind, data.draw(st.sampled_from(sorted(SAMPLES)))):
        try:
            check(read(other, damaged))
        except NotReadable as error:
            assert str(error).endswith(".")


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_odd_values_in_fields_do_no_harm(data: st.DataObject) -> None:
    def oddly(value: Any, depth: int = 0) -> Any:
        if isinstance(value, dict) and depth < 5:
            changed = {name: oddly(each, depth + 1) for name, each in value.items()}
            if changed and data.draw(st.integers(0, 3)) == 0:
                changed[data.draw(st.sampled_from(sorted(changed)))] = data.draw(ODD)
            return changed
        return [oddly(each, depth + 1) for each in value] if isinstance(value, list) else value

    body = json.dumps(oddly(json.loads(SAMPLES["changedetection"]))).encode()
    try:
        check(read("changedetection", body))
    except NotReadable as error:
        assert str(error).endswith(".")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"a: &x [1]\nb: *x\n", "anchors"),
        (b"url: !!python/object/apply:os.system ['true']\n", "tags"),
        (b"? [a]\n: b\n", "a name must be a text"),
        (b"a: " + b"[" * 100 + b"]" * 100, "deeply"),
        (b"a: {b", "not YAML"),
        (b"a: \x00\n", "not YAML"),
        (b"<<: {a: 1}\n- b", "not YAML"),
    ],
)
def test_yaml_that_could_do_something_is_refused(text: bytes, says: str) -> None:
    with pytest.raises(NotReadable, match=says):
        list(documents(text))


def test_entities_of_xml_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    plan = read("opml", bomb + samples.OPML.partition(b"?>")[2].replace(b"Tides", b"Tides &b; &f;"))
    assert re.search(r"root:|aaaa", plan.sources[0].body.title) is None


def test_a_zip_that_unpacks_to_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changedetection, "LARGEST", 10_000)
    bomb = samples.zipped({"url-watches.json": b" " * 1_000_000})
    assert len(bomb) < 3_000
    with pytest.raises(NotReadable, match="larger than"):
        changedetection.datastore(bomb)


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04" + zlib.compress(b"x"),
        samples.new_datastore()[:-40],
        samples.zipped({"other.json": b"{}"}),
        samples.zipped({"x/watch.json": b"{"}),
        samples.zipped({"../../url-watches.json": b"[" * 100_000}),
        samples.new_datastore()[:-6] + b"\xff\xff\xff\x7f\0\0",
        samples.zipped({"\u00e9/watch.json": b"{}"}).replace("\u00e9".encode(), b"\xe9\xe9"),
        samples.zipped({}),
    ],
)
def test_a_zip_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(NotReadable):
        read("changedetection", data)


def test_an_oversized_file_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "MOST_TEXT", 10)
    with pytest.raises(NotReadable, match="larger than"):
        kind_of(samples.old_datastore())


def test_groups_that_are_none_do_no_harm() -> None:
    check(read("changedetection", b'{"watching": {"a": {"url": "https://a.example/", "tags": 5}}}'))


def test_more_than_is_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "MOST_ITEMS", 1)
    monkeypatch.setattr(lists, "MOST_LINES", 1)
    for kind, data in (("changedetection", samples.old_datastore()), ("csv", SAMPLES["csv"])):
        with pytest.raises(NotReadable, match="at most 1 "):
            read(kind, data)  # type: ignore[arg-type]  # of the table above


@pytest.mark.parametrize("kind", sorted(READERS))
def test_an_empty_file_is_refused(kind: Kind) -> None:
    with pytest.raises(NotReadable):
        read(kind, b"")


@pytest.mark.parametrize(
    "data",
    [
        b"\n" * 60_000,
        b" " * 60_000 + b"x",
        b"-." * 30_000,
        b"<opml>" + b"<outline>" * 30_000,
        b"a:\n" + b"- " * 20_000,
        b'{"watching": {"a": {"url": "https://a.example/", "include_filters": ["//a[' + b" " * 50_000 + b'x"]}}}',
        b'{"watching": {"a": {"url": "https://a.example/", "trigger_text": ["/' + b"(|" * 20_000 + b'/"]}}}',
        b'{"watching": {"a": {"url": "https://a.example/", "include_filters": ["' + b":not(" * 5_000 + b'"]}}}',
    ],
    ids=["lines", "blanks", "dots", "outlines", "lists", "a path", "an expression", "a selector"],
)
@pytest.mark.real
def test_a_file_built_to_be_slow_is_quick(data: bytes) -> None:
    began = time.process_time()
    for kind in READERS:
        with suppress(NotReadable):
            check(read(kind, data))
    with suppress(NotReadable):
        kind_of(data)
    assert time.process_time() - began < 2
