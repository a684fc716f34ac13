"""Picking: the blocks of a URL's or a source's page to choose from, and the effect of pressing one."""

from __future__ import annotations

from msgspec import UNSET

from actors import picks as made
from actors.messages.requests import DetectRequest
from actors.picks import PickWish, Press
from api.operations import picks, sources
from api.route import Answer, Call, Route
from api.schemas import picks as wire
from api.schemas.mirror import mirrored
from api.schemas.previews import ShownPart
from storage.records.times import rfc3339


def _value(found: made.PickedValue) -> wire.BlockValue:
    value = found.value
    assert value.type is not UNSET, "a value that was read has a type"
    condition = f"{found.place} {found.subject}".strip()
    number = value.number if isinstance(value.number, int) else None
    return wire.BlockValue(value.text, value.type, number, value.scale, value.unit, found.subject, condition)


def _block(block: made.PickBlock) -> wire.PageBlock:
    cells = tuple(wire.BlockCell(**mirrored(cell, wire.BlockCell)) for cell in block.cells)
    parts = {"values": tuple(map(_value, block.values)), "cells": cells}
    return wire.PageBlock(**mirrored(block, wire.PageBlock) | parts)


def _kept(kept: made.PickKept | None) -> wire.KeptBlocks | None:
    return None if kept is None else wire.KeptBlocks(**mirrored(kept, wire.KeptBlocks))


def _choice(choice: made.PickChoice | None) -> wire.BlockChoice | None:
    if choice is None:
        return None
    return wire.BlockChoice(_block(choice.block), tuple(map(_reach, choice.reaches)), choice.reach, _kept(choice.kept))


def _reach(reach: made.PickReach) -> wire.BlockReach:
    return wire.BlockReach(**mirrored(reach, wire.BlockReach) | {"held": _held(reach.held)})


def _held(held: made.PickHeld | None) -> wire.HeldVersions | None:
    return None if held is None else wire.HeldVersions(held.versions, held.same, held.nothing, rfc3339(held.since))


def _page(picked: made.Picked) -> wire.PageBlocks:
    page = picked.page
    parts = {"blocks": tuple(map(_block, page.blocks)), "now": _kept(page.now), "choice": _choice(page.choice)}
    part = ShownPart(**mirrored(picked, ShownPart))
    return wire.PageBlocks(**mirrored(page, wire.PageBlocks) | parts, fetched_at=rfc3339(picked.fetched_at), part=part)


def _pressed(press: wire.PressedBlock | None) -> Press | None:
    return None if press is None else Press(press.number, press.mark, press.act, press.reach, press.cell)


async def of_url(call: Call) -> Answer:
    """Show the blocks of a URL's page, without watching it."""
    asked: wire.UrlBlocksRequest = call.body
    look = (asked.headers, asked.render, asked.wait_for, asked.tags, asked.own_only)
    request = DetectRequest(asked.url, "html", None, (), None, *look)
    wish = PickWish(asked.selector, asked.ignore, asked.first, asked.find, _pressed(asked.press), selectors=True)
    return Answer(_page(await sources.pick_from_url(call, request, wish)))


async def of_source(call: Call) -> Answer:
    asked: wire.SourceBlocksRequest = call.body
    now = (await sources.view(call, call.path["id"])).source
    wish = PickWish(
        now.selector if asked.selector is UNSET else asked.selector,
        now.ignore if asked.ignore is UNSET else asked.ignore,
        asked.first,
        asked.find,
        _pressed(asked.press),
        selectors=True,
    )
    return Answer(_page(await picks.of_source(call, now, wish)))


ROUTES = (
    Route(
        method="POST",
        path="/v1/sources/blocks",
        scope="sources:write",
        run=of_url,
        says="Show the blocks of a URL's page to choose from, each with its selector.",
        answers={200: wire.PageBlocks},
        body=(wire.UrlBlocksRequest,),
        refuses=("url-refused", "unprocessable"),
    ),
    Route(
        method="POST",
        path="/v1/sources/{id}/blocks",
        scope="sources:write",
        beside=("sources:read",),
        run=of_source,
        says="Show the blocks of a watched page to choose from, each with its selector.",
        answers={200: wire.PageBlocks},
        body=(wire.SourceBlocksRequest,),
        refuses=("not-found", "url-refused", "unprocessable"),
    ),
)
