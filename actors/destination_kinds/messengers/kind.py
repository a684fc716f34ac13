"""Makes a kind of destination from a messenger."""

from __future__ import annotations

from actors.destination_kinds.addresses import admit
from actors.destination_kinds.answer import Answer
from actors.destination_kinds.fields import LANGUAGE, for_people
from actors.destination_kinds.kind import DestinationKind, Outlet
from actors.destination_kinds.messengers.answers import answer_of
from actors.destination_kinds.messengers.messenger import Messenger
from actors.destination_kinds.messengers.request import PLACEHOLDER, request_of
from actors.destination_kinds.writing import written
from actors.egress.url import parse_url
from actors.notification.reading import notification_of
from actors.notification.speech import NO_OTHER, Speech
from actors.world import World
from storage.records.destination import Destination


def kind_of(messenger: Messenger, speech: Speech = NO_OTHER) -> DestinationKind:
    async def send(outlet: Outlet, destination: Destination, id: str, body: bytes, world: World) -> Answer:
        voice = speech.voice(destination.values.get(LANGUAGE, ""))
        told = await written(world, messenger.limits, destination.values, notification_of(id, body, voice))
        request = request_of(messenger, destination.address, destination.values, told, world.now())
        url = parse_url(request.url, schemes=("http", "https"))
        poster = outlet.deliver if url.secure else outlet.deliver_plain
        return answer_of(messenger, await poster.post(url, request.headers, request.body, request.method))

    return DestinationKind(
        id=messenger.id,
        label=messenger.label,
        family=messenger.family,
        where=messenger.where,
        documentation=messenger.documentation,
        address=messenger.address,
        fields=(*messenger.fields, *for_people(speech.codes)),
        admit=admit,
        new_secret=None,
        send=send,
        limits=messenger.limits,
        speech=speech,
        in_path=frozenset(found[1] for found in PLACEHOLDER.finditer(messenger.request.path))
        & {field.name for field in messenger.fields if not field.private},
    )
