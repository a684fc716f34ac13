"""A messenger: what a file says of one service. The fields are those of the file; docs/messengers.md explains them."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from actors.destination_kinds.answer import Verdict
from actors.destination_kinds.fields import AddressField, Family, KindField
from actors.egress.posted import PostMethod
from actors.notification.limits import TextLimits

Encoding = Literal["json", "form"]
Scheme = Literal["", "dingtalk", "lark"]


class RequestShape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a notification is sent. Values of the form `{name}` stand for what is known then; see `request.py`.

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
    """What an answer means. The first rule that fits counts; if none does, its status alone, as of a webhook.

    status: those that it is about, all without any. path: a place in the answer's JSON (`errors.0.code`), which must be
    there, and if `values` are given must be one of them. contains: words that the body has. wait: where the answer says
    how many seconds to wait, or milliseconds. says: where it says why.
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
    """One service. where: how a person gets the address, in two sentences. documentation, written: the page of the
    service that describes it, and the day of this file. read: what the answers were read in, page or repository.
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
