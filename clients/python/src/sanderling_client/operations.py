"""The operations of the API as methods: `Operations` blocks, `AsyncOperations` is awaited.

Generated from the description of the API (`python -m clients.generate`); edits are lost.
"""

from __future__ import annotations

from typing import Any, Literal

from sanderling_client import records as r
from sanderling_client.calling import Asks, AsyncAsks, Page, part


class Operations(Asks):
    """Every operation, one call each."""

    def add_source(
        self,
        body: r.NewSource | r.SourceBatch,
        *,
        idempotency_key: str | None = None,
    ) -> r.SourceRecord | r.BatchAnswer:
        """Classify a URL and watch it; or up to 20 at once."""
        found: r.SourceRecord | r.BatchAnswer = self._ask(
            "POST",
            "/v1/sources",
            (r.SourceRecord, r.BatchAnswer),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def list_sources(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        state: Literal["failing", "new", "ok", "overdue", "paused", "resting", "throttled", "unrendered"] | None = None,
        sort: Literal["-added", "-changed", "-name", "-next", "added", "changed", "name", "next", "worst"] | None = None,
        q: str | None = None,
    ) -> Page[r.SourceRecord]:
        """List sources, worst health first."""
        found: Page[r.SourceRecord] = self._ask(
            "GET",
            "/v1/sources",
            (r.SourceRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor, "state": state, "sort": sort, "q": q},
        )
        return found

    def read_source(
        self,
        id: str,
    ) -> r.SourceRecord:
        """Read one source."""
        found: r.SourceRecord = self._ask(
            "GET",
            f"/v1/sources/{part(id)}",
            (r.SourceRecord,),
        )
        return found

    def change_source(
        self,
        id: str,
        body: r.SourcePatch,
        *,
        if_match: str | None = None,
    ) -> r.SourceRecord:
        """Change one source; its URL is fixed."""
        found: r.SourceRecord = self._ask(
            "PATCH",
            f"/v1/sources/{part(id)}",
            (r.SourceRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    def delete_source(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete one source; its events stay."""
        self._ask(
            "DELETE",
            f"/v1/sources/{part(id)}",
            headers={"If-Match": if_match},
        )

    def disable_source(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> r.SourceRecord:
        """Pause one source."""
        found: r.SourceRecord = self._ask(
            "POST",
            f"/v1/sources/{part(id)}/disable",
            (r.SourceRecord,),
            headers={"If-Match": if_match},
        )
        return found

    def enable_source(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> r.SourceRecord:
        """Resume one source."""
        found: r.SourceRecord = self._ask(
            "POST",
            f"/v1/sources/{part(id)}/enable",
            (r.SourceRecord,),
            headers={"If-Match": if_match},
        )
        return found

    def restore_source(
        self,
        id: str,
    ) -> r.SourceRecord:
        """Restore a source deleted less than ten minutes ago."""
        found: r.SourceRecord = self._ask(
            "POST",
            f"/v1/sources/{part(id)}/restore",
            (r.SourceRecord,),
        )
        return found

    def read_health(
        self,
        id: str,
    ) -> r.SourceHealth:
        """Read the health of a source."""
        found: r.SourceHealth = self._ask(
            "GET",
            f"/v1/sources/{part(id)}/health",
            (r.SourceHealth,),
        )
        return found

    def check_source(
        self,
        id: str,
    ) -> r.CheckAnswer:
        """Check a source now, if politeness allows."""
        found: r.CheckAnswer = self._ask(
            "POST",
            f"/v1/sources/{part(id)}/check",
            (r.CheckAnswer,),
        )
        return found

    def detect(
        self,
        body: r.DetectRequest,
    ) -> r.DetectAnswer:
        """Classify a URL without watching it, and preview its events."""
        found: r.DetectAnswer = self._ask(
            "POST",
            "/v1/sources/detect",
            (r.DetectAnswer,),
            body=body,
        )
        return found

    def preview_source(
        self,
        id: str,
        body: r.PreviewRequest,
    ) -> r.Preview:
        """Preview another selector on a watched page."""
        found: r.Preview = self._ask(
            "POST",
            f"/v1/sources/{part(id)}/preview",
            (r.Preview,),
            body=body,
        )
        return found

    def pick_from_url(
        self,
        body: r.UrlBlocksRequest,
    ) -> r.PageBlocks:
        """List the blocks of a URL's page, each with its selector."""
        found: r.PageBlocks = self._ask(
            "POST",
            "/v1/sources/blocks",
            (r.PageBlocks,),
            body=body,
        )
        return found

    def pick_from_source(
        self,
        id: str,
        body: r.SourceBlocksRequest,
    ) -> r.PageBlocks:
        """List the blocks of a watched page, each with its selector."""
        found: r.PageBlocks = self._ask(
            "POST",
            f"/v1/sources/{part(id)}/blocks",
            (r.PageBlocks,),
            body=body,
        )
        return found

    def read_status(
        self,
        id: str,
    ) -> r.SourceStatus:
        """Read the status of a source."""
        found: r.SourceStatus = self._ask(
            "GET",
            f"/v1/sources/{part(id)}/status",
            (r.SourceStatus,),
        )
        return found

    def read_looks(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> r.LookTrail:
        """Read the results of the last 200 checks."""
        found: r.LookTrail = self._ask(
            "GET",
            f"/v1/sources/{part(id)}/looks",
            (r.LookTrail,),
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def read_coverage(
        self,
        id: str,
        *,
        from_: str | None = None,
        to: str | None = None,
    ) -> r.CoverageReceipt:
        """Read the checks of a period, as a signed receipt."""
        found: r.CoverageReceipt = self._ask(
            "GET",
            f"/v1/sources/{part(id)}/coverage",
            (r.CoverageReceipt,),
            query={"from": from_, "to": to},
        )
        return found

    def why_not(
        self,
        id: str,
        *,
        text: str | None = None,
        look: bool | None = None,
    ) -> r.SourceWhy:
        """Explain why a text was not reported."""
        found: r.SourceWhy = self._ask(
            "GET",
            f"/v1/sources/{part(id)}/why",
            (r.SourceWhy,),
            query={"text": text, "look": look},
        )
        return found

    def why_event(
        self,
        id: str,
    ) -> r.EventWhy:
        """Explain why an event was emitted."""
        found: r.EventWhy = self._ask(
            "GET",
            f"/v1/events/{part(id)}/why",
            (r.EventWhy,),
        )
        return found

    def teach(
        self,
        id: str,
        body: r.Feedback,
    ) -> r.Lesson:
        """Mark a page's event as noise, or as real."""
        found: r.Lesson = self._ask(
            "POST",
            f"/v1/events/{part(id)}/feedback",
            (r.Lesson,),
            body=body,
        )
        return found

    def read_values(
        self,
        id: str,
        *,
        format: Literal["csv", "json"] | None = None,
    ) -> r.Values:
        """Read a source's prices, numbers, states, versions and dates, and their history."""
        found: r.Values = self._ask(
            "GET",
            f"/v1/sources/{part(id)}/values",
            (r.Values,),
            query={"format": format},
        )
        return found

    def list_versions(
        self,
        id: str,
    ) -> r.Versions:
        """List the stored versions of a page."""
        found: r.Versions = self._ask(
            "GET",
            f"/v1/sources/{part(id)}/versions",
            (r.Versions,),
        )
        return found

    def compare_versions(
        self,
        id: str,
        *,
        from_: str | None = None,
        to: str | None = None,
        show: Literal["changes", "text"] | None = None,
    ) -> r.VersionComparison:
        """Compare two versions of a page."""
        found: r.VersionComparison = self._ask(
            "GET",
            f"/v1/sources/{part(id)}/compare",
            (r.VersionComparison,),
            query={"from": from_, "to": to, "show": show},
        )
        return found

    def list_tags(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.TagRecord]:
        """List tags by name, with their defaults."""
        found: Page[r.TagRecord] = self._ask(
            "GET",
            "/v1/tags",
            (r.TagRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def read_tag(
        self,
        tag: str,
    ) -> r.TagRecord:
        """Read one tag with its defaults."""
        found: r.TagRecord = self._ask(
            "GET",
            f"/v1/tags/{part(tag)}",
            (r.TagRecord,),
        )
        return found

    def set_tag_defaults(
        self,
        tag: str,
        body: r.TagSettings,
        *,
        if_match: str | None = None,
    ) -> r.TagRecord:
        """Replace all defaults of a tag."""
        found: r.TagRecord = self._ask(
            "PUT",
            f"/v1/tags/{part(tag)}",
            (r.TagRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    def delete_tag_defaults(
        self,
        tag: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete the defaults of a tag; its sources keep the tag."""
        self._ask(
            "DELETE",
            f"/v1/tags/{part(tag)}",
            headers={"If-Match": if_match},
        )

    def list_events(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        source: list[str] | None = None,
        source_type: list[str] | None = None,
        tag: list[str] | None = None,
        keyword: list[str] | None = None,
        heartbeats: bool | None = None,
        private: bool | None = None,
        cursor: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
    ) -> r.EventsPage:
        """Read the events of a period, page by page."""
        found: r.EventsPage = self._ask(
            "GET",
            "/v1/events",
            (r.EventsPage,),
            query={"from": from_, "to": to, "source": source, "source_type": source_type, "tag": tag, "keyword": keyword, "heartbeats": heartbeats, "private": private, "cursor": cursor, "order": order, "limit": limit},
        )
        return found

    def read_event(
        self,
        id: str,
    ) -> r.Event:
        """Read one event."""
        found: r.Event = self._ask(
            "GET",
            f"/v1/events/{part(id)}",
            (r.Event,),
        )
        return found

    def read_screenshot(
        self,
        id: str,
        *,
        side: Literal["after", "before"] | None = None,
    ) -> str:
        """Read a screenshot of the rendered page, before the event or after it."""
        found: str = self._ask(
            "GET",
            f"/v1/events/{part(id)}/screenshot",
            (str,),
            query={"side": side},
        )
        return found

    def export_events(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        source: list[str] | None = None,
        source_type: list[str] | None = None,
        tag: list[str] | None = None,
        keyword: list[str] | None = None,
        heartbeats: bool | None = None,
        private: bool | None = None,
        format: Literal["csv", "json", "ndjson"] | None = None,
    ) -> list[r.Event]:
        """Export the events of a period into one file: JSON, NDJSON or CSV."""
        found: list[r.Event] = self._ask(
            "GET",
            "/v1/events/export",
            (list[r.Event],),
            query={"from": from_, "to": to, "source": source, "source_type": source_type, "tag": tag, "keyword": keyword, "heartbeats": heartbeats, "private": private, "format": format},
        )
        return found

    def add_alert(
        self,
        body: r.NewAlert,
        *,
        idempotency_key: str | None = None,
    ) -> r.AlertRecord:
        """Add an alert."""
        found: r.AlertRecord = self._ask(
            "POST",
            "/v1/alerts",
            (r.AlertRecord,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def list_alerts(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.AlertRecord]:
        """List alerts, oldest first."""
        found: Page[r.AlertRecord] = self._ask(
            "GET",
            "/v1/alerts",
            (r.AlertRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def read_alert(
        self,
        id: str,
    ) -> r.AlertRecord:
        """Read one alert."""
        found: r.AlertRecord = self._ask(
            "GET",
            f"/v1/alerts/{part(id)}",
            (r.AlertRecord,),
        )
        return found

    def change_alert(
        self,
        id: str,
        body: r.AlertPatch,
        *,
        if_match: str | None = None,
    ) -> r.AlertRecord:
        """Change one alert."""
        found: r.AlertRecord = self._ask(
            "PATCH",
            f"/v1/alerts/{part(id)}",
            (r.AlertRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    def delete_alert(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete one alert with its destinations."""
        self._ask(
            "DELETE",
            f"/v1/alerts/{part(id)}",
            headers={"If-Match": if_match},
        )

    def preview_alert(
        self,
        body: r.AlertPreviewRequest,
    ) -> r.AlertPreview:
        """Try a query on the newest events."""
        found: r.AlertPreview = self._ask(
            "POST",
            "/v1/alerts/preview",
            (r.AlertPreview,),
            body=body,
        )
        return found

    def add_destination(
        self,
        id: str,
        body: r.NewDestination,
        *,
        idempotency_key: str | None = None,
    ) -> r.DestinationWithSecret:
        """Add a destination; its signing secret is in this answer only."""
        found: r.DestinationWithSecret = self._ask(
            "POST",
            f"/v1/alerts/{part(id)}/destinations",
            (r.DestinationWithSecret,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def list_destinations_of_alert(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.DestinationRecord]:
        """List an alert's destinations, oldest first."""
        found: Page[r.DestinationRecord] = self._ask(
            "GET",
            f"/v1/alerts/{part(id)}/destinations",
            (r.DestinationRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def list_destinations(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.DestinationRecord]:
        """List all destinations, oldest first."""
        found: Page[r.DestinationRecord] = self._ask(
            "GET",
            "/v1/destinations",
            (r.DestinationRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def list_destination_kinds(
        self,
    ) -> list[r.DestinationKindRecord]:
        """List the kinds of destinations and their fields."""
        found: list[r.DestinationKindRecord] = self._ask(
            "GET",
            "/v1/destination-kinds",
            (list[r.DestinationKindRecord],),
        )
        return found

    def read_destination(
        self,
        id: str,
    ) -> r.DestinationRecord:
        """Read one destination."""
        found: r.DestinationRecord = self._ask(
            "GET",
            f"/v1/destinations/{part(id)}",
            (r.DestinationRecord,),
        )
        return found

    def change_destination(
        self,
        id: str,
        body: r.DestinationPatch,
        *,
        if_match: str | None = None,
    ) -> r.DestinationRecord:
        """Change one destination."""
        found: r.DestinationRecord = self._ask(
            "PATCH",
            f"/v1/destinations/{part(id)}",
            (r.DestinationRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    def delete_destination(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete one destination and its waiting deliveries."""
        self._ask(
            "DELETE",
            f"/v1/destinations/{part(id)}",
            headers={"If-Match": if_match},
        )

    def test_destination(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> r.TestAnswer:
        """Send one signed sample now."""
        found: r.TestAnswer = self._ask(
            "POST",
            f"/v1/destinations/{part(id)}/test",
            (r.TestAnswer,),
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def invite_again(
        self,
        id: str,
    ) -> r.TestAnswer:
        """Send the invitation again."""
        found: r.TestAnswer = self._ask(
            "POST",
            f"/v1/destinations/{part(id)}/invite",
            (r.TestAnswer,),
        )
        return found

    def rotate_secret(
        self,
        id: str,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> r.DestinationWithSecret:
        """Create a new secret, shown only in this answer; the old one also signs for 24 hours."""
        found: r.DestinationWithSecret = self._ask(
            "POST",
            f"/v1/destinations/{part(id)}/rotate-secret",
            (r.DestinationWithSecret,),
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return found

    def list_deliveries(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        result: Literal["given_up", "retry", "sent"] | None = None,
    ) -> Page[r.DeliveryRecord]:
        """List attempts, newest first."""
        found: Page[r.DeliveryRecord] = self._ask(
            "GET",
            f"/v1/destinations/{part(id)}/deliveries",
            (r.DeliveryRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor, "result": result},
        )
        return found

    def preview_message(
        self,
        body: r.MessagePreviewRequest,
    ) -> r.MessagePreview:
        """Preview a message template on the newest events. Nothing is sent."""
        found: r.MessagePreview = self._ask(
            "POST",
            "/v1/destinations/preview",
            (r.MessagePreview,),
            body=body,
        )
        return found

    def replay(
        self,
        id: str,
        body: r.ReplayRequest,
        *,
        idempotency_key: str | None = None,
    ) -> r.ReplayAnswer:
        """Deliver past matches again under their old ids."""
        found: r.ReplayAnswer = self._ask(
            "POST",
            f"/v1/destinations/{part(id)}/replay",
            (r.ReplayAnswer,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def list_templates(
        self,
    ) -> list[r.TemplateSummary]:
        """List the templates."""
        found: list[r.TemplateSummary] = self._ask(
            "GET",
            "/v1/templates",
            (list[r.TemplateSummary],),
        )
        return found

    def read_template(
        self,
        template_id: str,
    ) -> r.TemplateRecord:
        """Read one template: its parameters, sources and suggested alerts."""
        found: r.TemplateRecord = self._ask(
            "GET",
            f"/v1/templates/{part(template_id)}",
            (r.TemplateRecord,),
        )
        return found

    def preview_template(
        self,
        template_id: str,
        body: r.Instantiation,
    ) -> r.TemplatePreview:
        """Preview an instantiation without doing it."""
        found: r.TemplatePreview = self._ask(
            "POST",
            f"/v1/templates/{part(template_id)}/preview",
            (r.TemplatePreview,),
            body=body,
        )
        return found

    def instantiate_template(
        self,
        template_id: str,
        body: r.Instantiation,
        *,
        idempotency_key: str | None = None,
    ) -> r.TemplateReport:
        """Add a template's sources, and optionally its alerts. A repetition does the rest."""
        found: r.TemplateReport = self._ask(
            "POST",
            f"/v1/templates/{part(template_id)}/instantiate",
            (r.TemplateReport,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def add_bin(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> r.BinRecord:
        """Create a bin: an address that stores requests."""
        found: r.BinRecord = self._ask(
            "POST",
            "/v1/webhook-bins",
            (r.BinRecord,),
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def list_bins(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.BinRecord]:
        """List bins, oldest first."""
        found: Page[r.BinRecord] = self._ask(
            "GET",
            "/v1/webhook-bins",
            (r.BinRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def read_bin(
        self,
        id: str,
    ) -> r.BinRecord:
        """Read one bin."""
        found: r.BinRecord = self._ask(
            "GET",
            f"/v1/webhook-bins/{part(id)}",
            (r.BinRecord,),
        )
        return found

    def delete_bin(
        self,
        id: str,
    ) -> None:
        """Delete one bin and its captures."""
        self._ask(
            "DELETE",
            f"/v1/webhook-bins/{part(id)}",
        )

    def list_captures(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.CaptureRecord]:
        """List the requests to a bin, newest first."""
        found: Page[r.CaptureRecord] = self._ask(
            "GET",
            f"/v1/webhook-bins/{part(id)}/captures",
            (r.CaptureRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def add_publication(
        self,
        body: r.NewPublication,
        *,
        idempotency_key: str | None = None,
    ) -> r.PublicationRecord:
        """Publish events as feeds and a page."""
        found: r.PublicationRecord = self._ask(
            "POST",
            "/v1/publications",
            (r.PublicationRecord,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def list_publications(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.PublicationRecord]:
        """List publications, oldest first."""
        found: Page[r.PublicationRecord] = self._ask(
            "GET",
            "/v1/publications",
            (r.PublicationRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def read_publication(
        self,
        id: str,
    ) -> r.PublicationRecord:
        """Read one publication."""
        found: r.PublicationRecord = self._ask(
            "GET",
            f"/v1/publications/{part(id)}",
            (r.PublicationRecord,),
        )
        return found

    def change_publication(
        self,
        id: str,
        body: r.PublicationPatch,
        *,
        if_match: str | None = None,
    ) -> r.PublicationRecord:
        """Change one publication."""
        found: r.PublicationRecord = self._ask(
            "PATCH",
            f"/v1/publications/{part(id)}",
            (r.PublicationRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    def delete_publication(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete one publication."""
        self._ask(
            "DELETE",
            f"/v1/publications/{part(id)}",
            headers={"If-Match": if_match},
        )

    def readdress_publication(
        self,
        id: str,
    ) -> r.PublicationRecord:
        """Give a publication another address."""
        found: r.PublicationRecord = self._ask(
            "POST",
            f"/v1/publications/{part(id)}/address",
            (r.PublicationRecord,),
        )
        return found

    def add_invitation(
        self,
        body: r.NewInvitation,
        *,
        idempotency_key: str | None = None,
    ) -> r.InvitationRecord:
        """Invite a person."""
        found: r.InvitationRecord = self._ask(
            "POST",
            "/v1/invitations",
            (r.InvitationRecord,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    def list_invitations(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.InvitationRecord]:
        """List the invitations that wait, oldest first."""
        found: Page[r.InvitationRecord] = self._ask(
            "GET",
            "/v1/invitations",
            (r.InvitationRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def read_invitation(
        self,
        id: str,
    ) -> r.InvitationRecord:
        """Read one invitation."""
        found: r.InvitationRecord = self._ask(
            "GET",
            f"/v1/invitations/{part(id)}",
            (r.InvitationRecord,),
        )
        return found

    def delete_invitation(
        self,
        id: str,
    ) -> None:
        """Withdraw an invitation."""
        self._ask(
            "DELETE",
            f"/v1/invitations/{part(id)}",
        )

    def list_people(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.PersonRecord]:
        """List the people with access, oldest first."""
        found: Page[r.PersonRecord] = self._ask(
            "GET",
            "/v1/people",
            (r.PersonRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    def read_person(
        self,
        id: str,
    ) -> r.PersonRecord:
        """Read one person."""
        found: r.PersonRecord = self._ask(
            "GET",
            f"/v1/people/{part(id)}",
            (r.PersonRecord,),
        )
        return found

    def change_person(
        self,
        id: str,
        body: r.PersonPatch,
    ) -> r.PersonRecord:
        """Change one person."""
        found: r.PersonRecord = self._ask(
            "PATCH",
            f"/v1/people/{part(id)}",
            (r.PersonRecord,),
            body=body,
        )
        return found

    def delete_person(
        self,
        id: str,
    ) -> None:
        """Remove one person."""
        self._ask(
            "DELETE",
            f"/v1/people/{part(id)}",
        )

    def list_activity(
        self,
        *,
        person: str | None = None,
        object: str | None = None,
        since: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.ActivityRecord]:
        """List who changed what, newest first."""
        found: Page[r.ActivityRecord] = self._ask(
            "GET",
            "/v1/activity",
            (r.ActivityRecord,),
            paged=True,
            query={"person": person, "object": object, "since": since, "limit": limit, "cursor": cursor},
        )
        return found

    def compare_secrets(
        self,
        body: r.SecretsRequest,
    ) -> r.SecretsAnswer:
        """Compare stored secrets with given values."""
        found: r.SecretsAnswer = self._ask(
            "POST",
            "/v1/secrets/compare",
            (r.SecretsAnswer,),
            body=body,
        )
        return found

    def list_apps(
        self,
    ) -> list[r.AppRecord]:
        """List connected apps."""
        found: list[r.AppRecord] = self._ask(
            "GET",
            "/v1/apps",
            (list[r.AppRecord],),
        )
        return found

    def disconnect_app(
        self,
        id: str,
    ) -> None:
        """Disconnect an app."""
        self._ask(
            "DELETE",
            f"/v1/apps/{part(id)}",
        )

    def list_practice(
        self,
    ) -> list[r.PracticeRecord]:
        """List the practice sources."""
        found: list[r.PracticeRecord] = self._ask(
            "GET",
            "/v1/practice",
            (list[r.PracticeRecord],),
        )
        return found

    def begin_practice(
        self,
    ) -> list[r.PracticeRecord]:
        """Start practice: create the practice sources."""
        found: list[r.PracticeRecord] = self._ask(
            "POST",
            "/v1/practice",
            (list[r.PracticeRecord],),
        )
        return found

    def end_practice(
        self,
    ) -> None:
        """End practice: delete its sources and their alerts."""
        self._ask(
            "DELETE",
            "/v1/practice",
        )

    def change_practice(
        self,
        what: str,
    ) -> r.PracticeChange:
        """Change a practice document and check it."""
        found: r.PracticeChange = self._ask(
            "POST",
            f"/v1/practice/{part(what)}/change",
            (r.PracticeChange,),
        )
        return found

    def read_overview(
        self,
    ) -> r.Overview:
        """Read the figures of the service."""
        found: r.Overview = self._ask(
            "GET",
            "/v1/admin/overview",
            (r.Overview,),
        )
        return found

    def read_settings(
        self,
    ) -> r.SettingsSeen:
        """Read the settings in force."""
        found: r.SettingsSeen = self._ask(
            "GET",
            "/v1/admin/settings",
            (r.SettingsSeen,),
        )
        return found

    def list_tree(
        self,
        *,
        sort: Literal["error", "health", "mailbox", "name", "next", "path", "rate", "restarts", "since", "worst"] | None = None,
        reverse: bool | None = None,
        tree: bool | None = None,
        open: list[str] | None = None,
        troubled: list[str] | None = None,
        filter: str | None = None,
        start: int | None = None,
        limit: int | None = None,
        paths: list[str] | None = None,
    ) -> r.TreePage:
        """Read a page of the tree, worst first."""
        found: r.TreePage = self._ask(
            "GET",
            "/v1/admin/tree",
            (r.TreePage,),
            query={"sort": sort, "reverse": reverse, "tree": tree, "open": open, "troubled": troubled, "filter": filter, "start": start, "limit": limit, "paths": paths},
        )
        return found

    def read_part(
        self,
        path: str,
    ) -> r.TreePart:
        """Read the details of one part."""
        found: r.TreePart = self._ask(
            "GET",
            f'/v1/admin/tree/{part(path, "/")}',
            (r.TreePart,),
        )
        return found

    def list_delivery_rows(
        self,
        *,
        start: int | None = None,
        limit: int | None = None,
    ) -> r.DeliveriesPage:
        """Read the state of destinations, failing ones first."""
        found: r.DeliveriesPage = self._ask(
            "GET",
            "/v1/admin/deliveries",
            (r.DeliveriesPage,),
            query={"start": start, "limit": limit},
        )
        return found

    def read_sizes(
        self,
        *,
        limit: int | None = None,
    ) -> r.Sizes:
        """Read the sizes, largest sources first."""
        found: r.Sizes = self._ask(
            "GET",
            "/v1/admin/sizes",
            (r.Sizes,),
            query={"limit": limit},
        )
        return found

    def read_log(
        self,
        *,
        actor: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> r.LogPage:
        """Read the newest log lines."""
        found: r.LogPage = self._ask(
            "GET",
            "/v1/admin/log",
            (r.LogPage,),
            query={"actor": actor, "after": after, "limit": limit},
        )
        return found

    def list_open_streams(
        self,
        *,
        limit: int | None = None,
    ) -> r.StreamsSeen:
        """List the open streams of this node."""
        found: r.StreamsSeen = self._ask(
            "GET",
            "/v1/admin/streams",
            (r.StreamsSeen,),
            query={"limit": limit},
        )
        return found

    def list_keys(
        self,
    ) -> r.KeysSeen:
        """List the API keys."""
        found: r.KeysSeen = self._ask(
            "GET",
            "/v1/admin/keys",
            (r.KeysSeen,),
        )
        return found

    def close_stream(
        self,
        number: str,
    ) -> r.Done:
        """Close a stream."""
        found: r.Done = self._ask(
            "POST",
            f"/v1/admin/streams/{part(number)}/close",
            (r.Done,),
        )
        return found

    def revoke_key(
        self,
        id: str,
    ) -> r.Done:
        """Delete an API key."""
        found: r.Done = self._ask(
            "POST",
            f"/v1/admin/keys/{part(id)}/revoke",
            (r.Done,),
        )
        return found

    def check_part(
        self,
        path: str,
    ) -> r.Done:
        """Check a source now, if politeness allows."""
        found: r.Done = self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/check',
            (r.Done,),
        )
        return found

    def restart_part(
        self,
        path: str,
    ) -> r.Done:
        """Restart a part."""
        found: r.Done = self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/restart',
            (r.Done,),
        )
        return found

    def release_part(
        self,
        path: str,
    ) -> r.Done:
        """End a quarantine, or the wait after a crash."""
        found: r.Done = self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/release',
            (r.Done,),
        )
        return found

    def disable_part(
        self,
        path: str,
    ) -> r.Done:
        """Pause a source."""
        found: r.Done = self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/disable',
            (r.Done,),
        )
        return found

    def enable_part(
        self,
        path: str,
    ) -> r.Done:
        """Resume a source."""
        found: r.Done = self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/enable',
            (r.Done,),
        )
        return found

    def drain(
        self,
    ) -> r.Done:
        """Stop all checks; pending events are still delivered."""
        found: r.Done = self._ask(
            "POST",
            "/v1/admin/drain",
            (r.Done,),
        )
        return found

    def resume(
        self,
    ) -> r.Done:
        """Resume all checks."""
        found: r.Done = self._ask(
            "POST",
            "/v1/admin/resume",
            (r.Done,),
        )
        return found

    def read_keys(
        self,
    ) -> dict[str, Any]:
        """Read the public keys of event signatures."""
        found: dict[str, Any] = self._ask(
            "GET",
            "/.well-known/jwks.json",
            (dict[str, Any],),
        )
        return found

    def read_liveness(
        self,
    ) -> dict[str, Any]:
        """Check that the process is alive."""
        found: dict[str, Any] = self._ask(
            "GET",
            "/healthz",
            (dict[str, Any],),
        )
        return found

    def read_readiness(
        self,
    ) -> dict[str, Any]:
        """Check that the service is ready."""
        found: dict[str, Any] = self._ask(
            "GET",
            "/readyz",
            (dict[str, Any],),
        )
        return found


class AsyncOperations(AsyncAsks):
    """Every operation, one awaited call each."""

    async def add_source(
        self,
        body: r.NewSource | r.SourceBatch,
        *,
        idempotency_key: str | None = None,
    ) -> r.SourceRecord | r.BatchAnswer:
        """Classify a URL and watch it; or up to 20 at once."""
        found: r.SourceRecord | r.BatchAnswer = await self._ask(
            "POST",
            "/v1/sources",
            (r.SourceRecord, r.BatchAnswer),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def list_sources(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        state: Literal["failing", "new", "ok", "overdue", "paused", "resting", "throttled", "unrendered"] | None = None,
        sort: Literal["-added", "-changed", "-name", "-next", "added", "changed", "name", "next", "worst"] | None = None,
        q: str | None = None,
    ) -> Page[r.SourceRecord]:
        """List sources, worst health first."""
        found: Page[r.SourceRecord] = await self._ask(
            "GET",
            "/v1/sources",
            (r.SourceRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor, "state": state, "sort": sort, "q": q},
        )
        return found

    async def read_source(
        self,
        id: str,
    ) -> r.SourceRecord:
        """Read one source."""
        found: r.SourceRecord = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}",
            (r.SourceRecord,),
        )
        return found

    async def change_source(
        self,
        id: str,
        body: r.SourcePatch,
        *,
        if_match: str | None = None,
    ) -> r.SourceRecord:
        """Change one source; its URL is fixed."""
        found: r.SourceRecord = await self._ask(
            "PATCH",
            f"/v1/sources/{part(id)}",
            (r.SourceRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    async def delete_source(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete one source; its events stay."""
        await self._ask(
            "DELETE",
            f"/v1/sources/{part(id)}",
            headers={"If-Match": if_match},
        )

    async def disable_source(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> r.SourceRecord:
        """Pause one source."""
        found: r.SourceRecord = await self._ask(
            "POST",
            f"/v1/sources/{part(id)}/disable",
            (r.SourceRecord,),
            headers={"If-Match": if_match},
        )
        return found

    async def enable_source(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> r.SourceRecord:
        """Resume one source."""
        found: r.SourceRecord = await self._ask(
            "POST",
            f"/v1/sources/{part(id)}/enable",
            (r.SourceRecord,),
            headers={"If-Match": if_match},
        )
        return found

    async def restore_source(
        self,
        id: str,
    ) -> r.SourceRecord:
        """Restore a source deleted less than ten minutes ago."""
        found: r.SourceRecord = await self._ask(
            "POST",
            f"/v1/sources/{part(id)}/restore",
            (r.SourceRecord,),
        )
        return found

    async def read_health(
        self,
        id: str,
    ) -> r.SourceHealth:
        """Read the health of a source."""
        found: r.SourceHealth = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}/health",
            (r.SourceHealth,),
        )
        return found

    async def check_source(
        self,
        id: str,
    ) -> r.CheckAnswer:
        """Check a source now, if politeness allows."""
        found: r.CheckAnswer = await self._ask(
            "POST",
            f"/v1/sources/{part(id)}/check",
            (r.CheckAnswer,),
        )
        return found

    async def detect(
        self,
        body: r.DetectRequest,
    ) -> r.DetectAnswer:
        """Classify a URL without watching it, and preview its events."""
        found: r.DetectAnswer = await self._ask(
            "POST",
            "/v1/sources/detect",
            (r.DetectAnswer,),
            body=body,
        )
        return found

    async def preview_source(
        self,
        id: str,
        body: r.PreviewRequest,
    ) -> r.Preview:
        """Preview another selector on a watched page."""
        found: r.Preview = await self._ask(
            "POST",
            f"/v1/sources/{part(id)}/preview",
            (r.Preview,),
            body=body,
        )
        return found

    async def pick_from_url(
        self,
        body: r.UrlBlocksRequest,
    ) -> r.PageBlocks:
        """List the blocks of a URL's page, each with its selector."""
        found: r.PageBlocks = await self._ask(
            "POST",
            "/v1/sources/blocks",
            (r.PageBlocks,),
            body=body,
        )
        return found

    async def pick_from_source(
        self,
        id: str,
        body: r.SourceBlocksRequest,
    ) -> r.PageBlocks:
        """List the blocks of a watched page, each with its selector."""
        found: r.PageBlocks = await self._ask(
            "POST",
            f"/v1/sources/{part(id)}/blocks",
            (r.PageBlocks,),
            body=body,
        )
        return found

    async def read_status(
        self,
        id: str,
    ) -> r.SourceStatus:
        """Read the status of a source."""
        found: r.SourceStatus = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}/status",
            (r.SourceStatus,),
        )
        return found

    async def read_looks(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> r.LookTrail:
        """Read the results of the last 200 checks."""
        found: r.LookTrail = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}/looks",
            (r.LookTrail,),
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def read_coverage(
        self,
        id: str,
        *,
        from_: str | None = None,
        to: str | None = None,
    ) -> r.CoverageReceipt:
        """Read the checks of a period, as a signed receipt."""
        found: r.CoverageReceipt = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}/coverage",
            (r.CoverageReceipt,),
            query={"from": from_, "to": to},
        )
        return found

    async def why_not(
        self,
        id: str,
        *,
        text: str | None = None,
        look: bool | None = None,
    ) -> r.SourceWhy:
        """Explain why a text was not reported."""
        found: r.SourceWhy = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}/why",
            (r.SourceWhy,),
            query={"text": text, "look": look},
        )
        return found

    async def why_event(
        self,
        id: str,
    ) -> r.EventWhy:
        """Explain why an event was emitted."""
        found: r.EventWhy = await self._ask(
            "GET",
            f"/v1/events/{part(id)}/why",
            (r.EventWhy,),
        )
        return found

    async def teach(
        self,
        id: str,
        body: r.Feedback,
    ) -> r.Lesson:
        """Mark a page's event as noise, or as real."""
        found: r.Lesson = await self._ask(
            "POST",
            f"/v1/events/{part(id)}/feedback",
            (r.Lesson,),
            body=body,
        )
        return found

    async def read_values(
        self,
        id: str,
        *,
        format: Literal["csv", "json"] | None = None,
    ) -> r.Values:
        """Read a source's prices, numbers, states, versions and dates, and their history."""
        found: r.Values = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}/values",
            (r.Values,),
            query={"format": format},
        )
        return found

    async def list_versions(
        self,
        id: str,
    ) -> r.Versions:
        """List the stored versions of a page."""
        found: r.Versions = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}/versions",
            (r.Versions,),
        )
        return found

    async def compare_versions(
        self,
        id: str,
        *,
        from_: str | None = None,
        to: str | None = None,
        show: Literal["changes", "text"] | None = None,
    ) -> r.VersionComparison:
        """Compare two versions of a page."""
        found: r.VersionComparison = await self._ask(
            "GET",
            f"/v1/sources/{part(id)}/compare",
            (r.VersionComparison,),
            query={"from": from_, "to": to, "show": show},
        )
        return found

    async def list_tags(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.TagRecord]:
        """List tags by name, with their defaults."""
        found: Page[r.TagRecord] = await self._ask(
            "GET",
            "/v1/tags",
            (r.TagRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def read_tag(
        self,
        tag: str,
    ) -> r.TagRecord:
        """Read one tag with its defaults."""
        found: r.TagRecord = await self._ask(
            "GET",
            f"/v1/tags/{part(tag)}",
            (r.TagRecord,),
        )
        return found

    async def set_tag_defaults(
        self,
        tag: str,
        body: r.TagSettings,
        *,
        if_match: str | None = None,
    ) -> r.TagRecord:
        """Replace all defaults of a tag."""
        found: r.TagRecord = await self._ask(
            "PUT",
            f"/v1/tags/{part(tag)}",
            (r.TagRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    async def delete_tag_defaults(
        self,
        tag: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete the defaults of a tag; its sources keep the tag."""
        await self._ask(
            "DELETE",
            f"/v1/tags/{part(tag)}",
            headers={"If-Match": if_match},
        )

    async def list_events(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        source: list[str] | None = None,
        source_type: list[str] | None = None,
        tag: list[str] | None = None,
        keyword: list[str] | None = None,
        heartbeats: bool | None = None,
        private: bool | None = None,
        cursor: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        limit: int | None = None,
    ) -> r.EventsPage:
        """Read the events of a period, page by page."""
        found: r.EventsPage = await self._ask(
            "GET",
            "/v1/events",
            (r.EventsPage,),
            query={"from": from_, "to": to, "source": source, "source_type": source_type, "tag": tag, "keyword": keyword, "heartbeats": heartbeats, "private": private, "cursor": cursor, "order": order, "limit": limit},
        )
        return found

    async def read_event(
        self,
        id: str,
    ) -> r.Event:
        """Read one event."""
        found: r.Event = await self._ask(
            "GET",
            f"/v1/events/{part(id)}",
            (r.Event,),
        )
        return found

    async def read_screenshot(
        self,
        id: str,
        *,
        side: Literal["after", "before"] | None = None,
    ) -> str:
        """Read a screenshot of the rendered page, before the event or after it."""
        found: str = await self._ask(
            "GET",
            f"/v1/events/{part(id)}/screenshot",
            (str,),
            query={"side": side},
        )
        return found

    async def export_events(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        source: list[str] | None = None,
        source_type: list[str] | None = None,
        tag: list[str] | None = None,
        keyword: list[str] | None = None,
        heartbeats: bool | None = None,
        private: bool | None = None,
        format: Literal["csv", "json", "ndjson"] | None = None,
    ) -> list[r.Event]:
        """Export the events of a period into one file: JSON, NDJSON or CSV."""
        found: list[r.Event] = await self._ask(
            "GET",
            "/v1/events/export",
            (list[r.Event],),
            query={"from": from_, "to": to, "source": source, "source_type": source_type, "tag": tag, "keyword": keyword, "heartbeats": heartbeats, "private": private, "format": format},
        )
        return found

    async def add_alert(
        self,
        body: r.NewAlert,
        *,
        idempotency_key: str | None = None,
    ) -> r.AlertRecord:
        """Add an alert."""
        found: r.AlertRecord = await self._ask(
            "POST",
            "/v1/alerts",
            (r.AlertRecord,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def list_alerts(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.AlertRecord]:
        """List alerts, oldest first."""
        found: Page[r.AlertRecord] = await self._ask(
            "GET",
            "/v1/alerts",
            (r.AlertRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def read_alert(
        self,
        id: str,
    ) -> r.AlertRecord:
        """Read one alert."""
        found: r.AlertRecord = await self._ask(
            "GET",
            f"/v1/alerts/{part(id)}",
            (r.AlertRecord,),
        )
        return found

    async def change_alert(
        self,
        id: str,
        body: r.AlertPatch,
        *,
        if_match: str | None = None,
    ) -> r.AlertRecord:
        """Change one alert."""
        found: r.AlertRecord = await self._ask(
            "PATCH",
            f"/v1/alerts/{part(id)}",
            (r.AlertRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    async def delete_alert(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete one alert with its destinations."""
        await self._ask(
            "DELETE",
            f"/v1/alerts/{part(id)}",
            headers={"If-Match": if_match},
        )

    async def preview_alert(
        self,
        body: r.AlertPreviewRequest,
    ) -> r.AlertPreview:
        """Try a query on the newest events."""
        found: r.AlertPreview = await self._ask(
            "POST",
            "/v1/alerts/preview",
            (r.AlertPreview,),
            body=body,
        )
        return found

    async def add_destination(
        self,
        id: str,
        body: r.NewDestination,
        *,
        idempotency_key: str | None = None,
    ) -> r.DestinationWithSecret:
        """Add a destination; its signing secret is in this answer only."""
        found: r.DestinationWithSecret = await self._ask(
            "POST",
            f"/v1/alerts/{part(id)}/destinations",
            (r.DestinationWithSecret,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def list_destinations_of_alert(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.DestinationRecord]:
        """List an alert's destinations, oldest first."""
        found: Page[r.DestinationRecord] = await self._ask(
            "GET",
            f"/v1/alerts/{part(id)}/destinations",
            (r.DestinationRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def list_destinations(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.DestinationRecord]:
        """List all destinations, oldest first."""
        found: Page[r.DestinationRecord] = await self._ask(
            "GET",
            "/v1/destinations",
            (r.DestinationRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def list_destination_kinds(
        self,
    ) -> list[r.DestinationKindRecord]:
        """List the kinds of destinations and their fields."""
        found: list[r.DestinationKindRecord] = await self._ask(
            "GET",
            "/v1/destination-kinds",
            (list[r.DestinationKindRecord],),
        )
        return found

    async def read_destination(
        self,
        id: str,
    ) -> r.DestinationRecord:
        """Read one destination."""
        found: r.DestinationRecord = await self._ask(
            "GET",
            f"/v1/destinations/{part(id)}",
            (r.DestinationRecord,),
        )
        return found

    async def change_destination(
        self,
        id: str,
        body: r.DestinationPatch,
        *,
        if_match: str | None = None,
    ) -> r.DestinationRecord:
        """Change one destination."""
        found: r.DestinationRecord = await self._ask(
            "PATCH",
            f"/v1/destinations/{part(id)}",
            (r.DestinationRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    async def delete_destination(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete one destination and its waiting deliveries."""
        await self._ask(
            "DELETE",
            f"/v1/destinations/{part(id)}",
            headers={"If-Match": if_match},
        )

    async def test_destination(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> r.TestAnswer:
        """Send one signed sample now."""
        found: r.TestAnswer = await self._ask(
            "POST",
            f"/v1/destinations/{part(id)}/test",
            (r.TestAnswer,),
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def invite_again(
        self,
        id: str,
    ) -> r.TestAnswer:
        """Send the invitation again."""
        found: r.TestAnswer = await self._ask(
            "POST",
            f"/v1/destinations/{part(id)}/invite",
            (r.TestAnswer,),
        )
        return found

    async def rotate_secret(
        self,
        id: str,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> r.DestinationWithSecret:
        """Create a new secret, shown only in this answer; the old one also signs for 24 hours."""
        found: r.DestinationWithSecret = await self._ask(
            "POST",
            f"/v1/destinations/{part(id)}/rotate-secret",
            (r.DestinationWithSecret,),
            headers={"If-Match": if_match, "Idempotency-Key": idempotency_key},
        )
        return found

    async def list_deliveries(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        result: Literal["given_up", "retry", "sent"] | None = None,
    ) -> Page[r.DeliveryRecord]:
        """List attempts, newest first."""
        found: Page[r.DeliveryRecord] = await self._ask(
            "GET",
            f"/v1/destinations/{part(id)}/deliveries",
            (r.DeliveryRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor, "result": result},
        )
        return found

    async def preview_message(
        self,
        body: r.MessagePreviewRequest,
    ) -> r.MessagePreview:
        """Preview a message template on the newest events. Nothing is sent."""
        found: r.MessagePreview = await self._ask(
            "POST",
            "/v1/destinations/preview",
            (r.MessagePreview,),
            body=body,
        )
        return found

    async def replay(
        self,
        id: str,
        body: r.ReplayRequest,
        *,
        idempotency_key: str | None = None,
    ) -> r.ReplayAnswer:
        """Deliver past matches again under their old ids."""
        found: r.ReplayAnswer = await self._ask(
            "POST",
            f"/v1/destinations/{part(id)}/replay",
            (r.ReplayAnswer,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def list_templates(
        self,
    ) -> list[r.TemplateSummary]:
        """List the templates."""
        found: list[r.TemplateSummary] = await self._ask(
            "GET",
            "/v1/templates",
            (list[r.TemplateSummary],),
        )
        return found

    async def read_template(
        self,
        template_id: str,
    ) -> r.TemplateRecord:
        """Read one template: its parameters, sources and suggested alerts."""
        found: r.TemplateRecord = await self._ask(
            "GET",
            f"/v1/templates/{part(template_id)}",
            (r.TemplateRecord,),
        )
        return found

    async def preview_template(
        self,
        template_id: str,
        body: r.Instantiation,
    ) -> r.TemplatePreview:
        """Preview an instantiation without doing it."""
        found: r.TemplatePreview = await self._ask(
            "POST",
            f"/v1/templates/{part(template_id)}/preview",
            (r.TemplatePreview,),
            body=body,
        )
        return found

    async def instantiate_template(
        self,
        template_id: str,
        body: r.Instantiation,
        *,
        idempotency_key: str | None = None,
    ) -> r.TemplateReport:
        """Add a template's sources, and optionally its alerts. A repetition does the rest."""
        found: r.TemplateReport = await self._ask(
            "POST",
            f"/v1/templates/{part(template_id)}/instantiate",
            (r.TemplateReport,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def add_bin(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> r.BinRecord:
        """Create a bin: an address that stores requests."""
        found: r.BinRecord = await self._ask(
            "POST",
            "/v1/webhook-bins",
            (r.BinRecord,),
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def list_bins(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.BinRecord]:
        """List bins, oldest first."""
        found: Page[r.BinRecord] = await self._ask(
            "GET",
            "/v1/webhook-bins",
            (r.BinRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def read_bin(
        self,
        id: str,
    ) -> r.BinRecord:
        """Read one bin."""
        found: r.BinRecord = await self._ask(
            "GET",
            f"/v1/webhook-bins/{part(id)}",
            (r.BinRecord,),
        )
        return found

    async def delete_bin(
        self,
        id: str,
    ) -> None:
        """Delete one bin and its captures."""
        await self._ask(
            "DELETE",
            f"/v1/webhook-bins/{part(id)}",
        )

    async def list_captures(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.CaptureRecord]:
        """List the requests to a bin, newest first."""
        found: Page[r.CaptureRecord] = await self._ask(
            "GET",
            f"/v1/webhook-bins/{part(id)}/captures",
            (r.CaptureRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def add_publication(
        self,
        body: r.NewPublication,
        *,
        idempotency_key: str | None = None,
    ) -> r.PublicationRecord:
        """Publish events as feeds and a page."""
        found: r.PublicationRecord = await self._ask(
            "POST",
            "/v1/publications",
            (r.PublicationRecord,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def list_publications(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.PublicationRecord]:
        """List publications, oldest first."""
        found: Page[r.PublicationRecord] = await self._ask(
            "GET",
            "/v1/publications",
            (r.PublicationRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def read_publication(
        self,
        id: str,
    ) -> r.PublicationRecord:
        """Read one publication."""
        found: r.PublicationRecord = await self._ask(
            "GET",
            f"/v1/publications/{part(id)}",
            (r.PublicationRecord,),
        )
        return found

    async def change_publication(
        self,
        id: str,
        body: r.PublicationPatch,
        *,
        if_match: str | None = None,
    ) -> r.PublicationRecord:
        """Change one publication."""
        found: r.PublicationRecord = await self._ask(
            "PATCH",
            f"/v1/publications/{part(id)}",
            (r.PublicationRecord,),
            body=body,
            headers={"If-Match": if_match},
        )
        return found

    async def delete_publication(
        self,
        id: str,
        *,
        if_match: str | None = None,
    ) -> None:
        """Delete one publication."""
        await self._ask(
            "DELETE",
            f"/v1/publications/{part(id)}",
            headers={"If-Match": if_match},
        )

    async def readdress_publication(
        self,
        id: str,
    ) -> r.PublicationRecord:
        """Give a publication another address."""
        found: r.PublicationRecord = await self._ask(
            "POST",
            f"/v1/publications/{part(id)}/address",
            (r.PublicationRecord,),
        )
        return found

    async def add_invitation(
        self,
        body: r.NewInvitation,
        *,
        idempotency_key: str | None = None,
    ) -> r.InvitationRecord:
        """Invite a person."""
        found: r.InvitationRecord = await self._ask(
            "POST",
            "/v1/invitations",
            (r.InvitationRecord,),
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return found

    async def list_invitations(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.InvitationRecord]:
        """List the invitations that wait, oldest first."""
        found: Page[r.InvitationRecord] = await self._ask(
            "GET",
            "/v1/invitations",
            (r.InvitationRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def read_invitation(
        self,
        id: str,
    ) -> r.InvitationRecord:
        """Read one invitation."""
        found: r.InvitationRecord = await self._ask(
            "GET",
            f"/v1/invitations/{part(id)}",
            (r.InvitationRecord,),
        )
        return found

    async def delete_invitation(
        self,
        id: str,
    ) -> None:
        """Withdraw an invitation."""
        await self._ask(
            "DELETE",
            f"/v1/invitations/{part(id)}",
        )

    async def list_people(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.PersonRecord]:
        """List the people with access, oldest first."""
        found: Page[r.PersonRecord] = await self._ask(
            "GET",
            "/v1/people",
            (r.PersonRecord,),
            paged=True,
            query={"limit": limit, "cursor": cursor},
        )
        return found

    async def read_person(
        self,
        id: str,
    ) -> r.PersonRecord:
        """Read one person."""
        found: r.PersonRecord = await self._ask(
            "GET",
            f"/v1/people/{part(id)}",
            (r.PersonRecord,),
        )
        return found

    async def change_person(
        self,
        id: str,
        body: r.PersonPatch,
    ) -> r.PersonRecord:
        """Change one person."""
        found: r.PersonRecord = await self._ask(
            "PATCH",
            f"/v1/people/{part(id)}",
            (r.PersonRecord,),
            body=body,
        )
        return found

    async def delete_person(
        self,
        id: str,
    ) -> None:
        """Remove one person."""
        await self._ask(
            "DELETE",
            f"/v1/people/{part(id)}",
        )

    async def list_activity(
        self,
        *,
        person: str | None = None,
        object: str | None = None,
        since: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[r.ActivityRecord]:
        """List who changed what, newest first."""
        found: Page[r.ActivityRecord] = await self._ask(
            "GET",
            "/v1/activity",
            (r.ActivityRecord,),
            paged=True,
            query={"person": person, "object": object, "since": since, "limit": limit, "cursor": cursor},
        )
        return found

    async def compare_secrets(
        self,
        body: r.SecretsRequest,
    ) -> r.SecretsAnswer:
        """Compare stored secrets with given values."""
        found: r.SecretsAnswer = await self._ask(
            "POST",
            "/v1/secrets/compare",
            (r.SecretsAnswer,),
            body=body,
        )
        return found

    async def list_apps(
        self,
    ) -> list[r.AppRecord]:
        """List connected apps."""
        found: list[r.AppRecord] = await self._ask(
            "GET",
            "/v1/apps",
            (list[r.AppRecord],),
        )
        return found

    async def disconnect_app(
        self,
        id: str,
    ) -> None:
        """Disconnect an app."""
        await self._ask(
            "DELETE",
            f"/v1/apps/{part(id)}",
        )

    async def list_practice(
        self,
    ) -> list[r.PracticeRecord]:
        """List the practice sources."""
        found: list[r.PracticeRecord] = await self._ask(
            "GET",
            "/v1/practice",
            (list[r.PracticeRecord],),
        )
        return found

    async def begin_practice(
        self,
    ) -> list[r.PracticeRecord]:
        """Start practice: create the practice sources."""
        found: list[r.PracticeRecord] = await self._ask(
            "POST",
            "/v1/practice",
            (list[r.PracticeRecord],),
        )
        return found

    async def end_practice(
        self,
    ) -> None:
        """End practice: delete its sources and their alerts."""
        await self._ask(
            "DELETE",
            "/v1/practice",
        )

    async def change_practice(
        self,
        what: str,
    ) -> r.PracticeChange:
        """Change a practice document and check it."""
        found: r.PracticeChange = await self._ask(
            "POST",
            f"/v1/practice/{part(what)}/change",
            (r.PracticeChange,),
        )
        return found

    async def read_overview(
        self,
    ) -> r.Overview:
        """Read the figures of the service."""
        found: r.Overview = await self._ask(
            "GET",
            "/v1/admin/overview",
            (r.Overview,),
        )
        return found

    async def read_settings(
        self,
    ) -> r.SettingsSeen:
        """Read the settings in force."""
        found: r.SettingsSeen = await self._ask(
            "GET",
            "/v1/admin/settings",
            (r.SettingsSeen,),
        )
        return found

    async def list_tree(
        self,
        *,
        sort: Literal["error", "health", "mailbox", "name", "next", "path", "rate", "restarts", "since", "worst"] | None = None,
        reverse: bool | None = None,
        tree: bool | None = None,
        open: list[str] | None = None,
        troubled: list[str] | None = None,
        filter: str | None = None,
        start: int | None = None,
        limit: int | None = None,
        paths: list[str] | None = None,
    ) -> r.TreePage:
        """Read a page of the tree, worst first."""
        found: r.TreePage = await self._ask(
            "GET",
            "/v1/admin/tree",
            (r.TreePage,),
            query={"sort": sort, "reverse": reverse, "tree": tree, "open": open, "troubled": troubled, "filter": filter, "start": start, "limit": limit, "paths": paths},
        )
        return found

    async def read_part(
        self,
        path: str,
    ) -> r.TreePart:
        """Read the details of one part."""
        found: r.TreePart = await self._ask(
            "GET",
            f'/v1/admin/tree/{part(path, "/")}',
            (r.TreePart,),
        )
        return found

    async def list_delivery_rows(
        self,
        *,
        start: int | None = None,
        limit: int | None = None,
    ) -> r.DeliveriesPage:
        """Read the state of destinations, failing ones first."""
        found: r.DeliveriesPage = await self._ask(
            "GET",
            "/v1/admin/deliveries",
            (r.DeliveriesPage,),
            query={"start": start, "limit": limit},
        )
        return found

    async def read_sizes(
        self,
        *,
        limit: int | None = None,
    ) -> r.Sizes:
        """Read the sizes, largest sources first."""
        found: r.Sizes = await self._ask(
            "GET",
            "/v1/admin/sizes",
            (r.Sizes,),
            query={"limit": limit},
        )
        return found

    async def read_log(
        self,
        *,
        actor: str | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> r.LogPage:
        """Read the newest log lines."""
        found: r.LogPage = await self._ask(
            "GET",
            "/v1/admin/log",
            (r.LogPage,),
            query={"actor": actor, "after": after, "limit": limit},
        )
        return found

    async def list_open_streams(
        self,
        *,
        limit: int | None = None,
    ) -> r.StreamsSeen:
        """List the open streams of this node."""
        found: r.StreamsSeen = await self._ask(
            "GET",
            "/v1/admin/streams",
            (r.StreamsSeen,),
            query={"limit": limit},
        )
        return found

    async def list_keys(
        self,
    ) -> r.KeysSeen:
        """List the API keys."""
        found: r.KeysSeen = await self._ask(
            "GET",
            "/v1/admin/keys",
            (r.KeysSeen,),
        )
        return found

    async def close_stream(
        self,
        number: str,
    ) -> r.Done:
        """Close a stream."""
        found: r.Done = await self._ask(
            "POST",
            f"/v1/admin/streams/{part(number)}/close",
            (r.Done,),
        )
        return found

    async def revoke_key(
        self,
        id: str,
    ) -> r.Done:
        """Delete an API key."""
        found: r.Done = await self._ask(
            "POST",
            f"/v1/admin/keys/{part(id)}/revoke",
            (r.Done,),
        )
        return found

    async def check_part(
        self,
        path: str,
    ) -> r.Done:
        """Check a source now, if politeness allows."""
        found: r.Done = await self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/check',
            (r.Done,),
        )
        return found

    async def restart_part(
        self,
        path: str,
    ) -> r.Done:
        """Restart a part."""
        found: r.Done = await self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/restart',
            (r.Done,),
        )
        return found

    async def release_part(
        self,
        path: str,
    ) -> r.Done:
        """End a quarantine, or the wait after a crash."""
        found: r.Done = await self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/release',
            (r.Done,),
        )
        return found

    async def disable_part(
        self,
        path: str,
    ) -> r.Done:
        """Pause a source."""
        found: r.Done = await self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/disable',
            (r.Done,),
        )
        return found

    async def enable_part(
        self,
        path: str,
    ) -> r.Done:
        """Resume a source."""
        found: r.Done = await self._ask(
            "POST",
            f'/v1/admin/tree/{part(path, "/")}/enable',
            (r.Done,),
        )
        return found

    async def drain(
        self,
    ) -> r.Done:
        """Stop all checks; pending events are still delivered."""
        found: r.Done = await self._ask(
            "POST",
            "/v1/admin/drain",
            (r.Done,),
        )
        return found

    async def resume(
        self,
    ) -> r.Done:
        """Resume all checks."""
        found: r.Done = await self._ask(
            "POST",
            "/v1/admin/resume",
            (r.Done,),
        )
        return found

    async def read_keys(
        self,
    ) -> dict[str, Any]:
        """Read the public keys of event signatures."""
        found: dict[str, Any] = await self._ask(
            "GET",
            "/.well-known/jwks.json",
            (dict[str, Any],),
        )
        return found

    async def read_liveness(
        self,
    ) -> dict[str, Any]:
        """Check that the process is alive."""
        found: dict[str, Any] = await self._ask(
            "GET",
            "/healthz",
            (dict[str, Any],),
        )
        return found

    async def read_readiness(
        self,
    ) -> dict[str, Any]:
        """Check that the service is ready."""
        found: dict[str, Any] = await self._ask(
            "GET",
            "/readyz",
            (dict[str, Any],),
        )
        return found
