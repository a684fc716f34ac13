"""A messenger: the content of a file about one service. docs/messengers.md explains the fields."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from actors.destination_kinds.answer import Verdict
from actors.destination_kinds.fields import AddressField, Family, KindField
from actors.egress.posted import PostMethod
from actors.notification.dialects import TextLimits

Encoding = Literal["json", "form"]
Scheme = Literal["", "dingtalk", "lark"]


class RequestShape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request of a notification. Placeholders such as `{name}` are filled in; see `request.py`.

    path: added to the address. basic: the two fields that are name and password (RFC 7617). sign: a scheme of signing
    with the field `secret`, for `{timestamp}` and `{sign}`.
    """

    method: PostMethod = "POST"
    path: str = ""
    query: dict[str, str] = {}
    headers: dict[str, str] = {}
    basic: tuple[str, str] | None = None
    encoding: Encoding = "json"
    body: dict[str, Any]
    sign: Scheme = ""


class AnswerRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The meaning of a response. The first matching rule counts; without one, the status alone, as for a webhook.

    status: matching statuses, all without any. path: a place in the response's JSON (`errors.0.code`) that must exist
    and, if `values` are given, must equal one of them. contains: text in the body. wait: the place of the seconds, or
    milliseconds, to wait. says: the place of the reason.
    """

    status: tuple[int, ...] = ()
    path: str = ""
    values: tuple[str | int | bool, ...] = ()
    contains: str = ""
    verdict: Verdict
    wait: str = ""
    wait_unit: Literal["s", "ms"] = "s"
    says: str = ""


class Messenger(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One service. where: how a person gets the address, in two sentences. documentation, written: the service's page
    about it, and the date of this file. read: the page or repository that the answers are based on.
    """

    id: str
    label: str
    family: Family = "chat"
    where: str
    documentation: str
    written: str
    read: tuple[str, ...] = ()
    address: AddressField
    fields: tuple[KindField, ...] = ()
    limits: TextLimits
    request: RequestShape
    answers: tuple[AnswerRule, ...] = ()
