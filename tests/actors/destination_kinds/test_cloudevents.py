"""The envelope follows CloudEvents 1.0.2, and its content is untouched."""

from __future__ import annotations

import json
import re
from datetime import datetime
from urllib.parse import urlsplit

import msgspec
import pytest
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from hypothesis import given

from actors.destination_kinds.webhook import to_cloudevent
from actors.signatures import Signer, new_signing_key
from storage.records.identity import SERVICE, Millis
from tests.actors.signatures.events import EVENTS, an_event
from tests.clients.receiver.test_receipt import AT, BODY, DIGEST, ID

SIGNER = Signer(new_signing_key(bytes(32), Millis(0)))


def test_an_event_has_its_own_id_its_source_and_its_bytes() -> None:
    envelope = to_cloudevent(ID, BODY)
    told = json.loads(envelope)
    assert envelope.endswith(b'"data":' + BODY + b"}")
    assert {name: told[name] for name in told if name != "data"} == {
        "specversion": "1.0",
        "id": ID,
        "source": f"urn:uuid:{an_event().source_id}",
        "type": "sanderling.event",
        "subject": "https://a.example/feed",
        "time": "2026-11-21T10:00:00.100Z",
        "datacontenttype": "application/json",
        "dataschema": "https://sanderling.example/schemas/event-v1.json",
    }
    assert to_cloudevent(ID, BODY) == envelope, "an attempt repeats the bytes of the one before"


@pytest.mark.parametrize("body", [BODY, DIGEST])
def test_the_reference_library_reads_it(body: bytes) -> None:
    read = JSONFormat().read(CloudEvent, to_cloudevent(ID, body))
    told = json.loads(to_cloudevent(ID, body))
    assert (read.get_id(), read.get_source(), read.get_type()) == (ID, told["source"], told["type"])
    assert read.get_data() == json.loads(body) and read.get_specversion() == "1.0"
    assert read.get_time() == datetime.fromisoformat(told["time"])


def test_a_digest_is_of_its_alert_and_has_no_schema_or_subject() -> None:
    told = json.loads(to_cloudevent(ID, DIGEST))
    assert (told["type"], told["source"]) == ("sanderling.digest", f"urn:uuid:{ID}")
    assert told["time"] == told["data"]["window_end"] and not {"subject", "dataschema"} & told.keys()


@pytest.mark.parametrize(("alert_type", "kind"), [("source_failing", "notice"), (msgspec.UNSET, "event")])
def test_notices_have_a_type_of_their_own(alert_type: object, kind: str) -> None:
    body = SIGNER.sign(an_event(alert_type=alert_type), AT)
    assert json.loads(to_cloudevent(ID, body))["type"] == f"sanderling.{kind}"


def test_a_service_notice_is_no_digest() -> None:
    body = SIGNER.sign(an_event(source_id=SERVICE, alert_type="watching_stalled"), AT)
    told = json.loads(to_cloudevent(ID, body))
    assert (told["type"], told["source"]) == ("sanderling.notice", f"urn:uuid:{SERVICE}")


@given(EVENTS)
def test_any_events_attributes_meet_the_specification(event: object) -> None:
    told = json.loads(to_cloudevent(ID, SIGNER.sign(event, AT)))  # type: ignore[arg-type]
    assert all(re.fullmatch(r"[a-z0-9]{1,20}", name) for name in told)
    assert all(isinstance(told[name], str) and told[name] for name in told if name != "data")
    assert {"id", "source", "specversion", "type"} <= told.keys()
    assert urlsplit(told["source"]).scheme == "urn" and urlsplit(told["dataschema"]).scheme
    assert datetime.fromisoformat(told["time"]).tzinfo is not None
