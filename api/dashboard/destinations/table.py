"""The screens of destinations and deliveries."""

from __future__ import annotations

from api.dashboard.confirming import Deletion
from api.dashboard.destinations import acting, deliveries, editing, listing, one
from api.dashboard.destinations.form import DestinationEdit, NewDestinationForm
from api.dashboard.forms import Form
from api.dashboard.screen import Screen

_ONE = "/destinations/{id}"
SCREENS = (
    Screen(path="/destinations", run=listing.listing, query=listing.DestinationsQuery),
    Screen(path="/destinations/new", run=editing.new, query=editing.NewQuery),
    Screen(
        method="POST",
        path="/destinations/preview",
        run=editing.try_new,
        form=NewDestinationForm,
        query=editing.NewQuery,
        again=editing.new,
    ),
    Screen(method="POST", path="/destinations/new", run=editing.create, form=NewDestinationForm, again=editing.new),
    Screen(path=_ONE, run=one.one),
    Screen(path=f"{_ONE}/edit", run=editing.edit),
    Screen(method="POST", path=f"{_ONE}/edit", run=editing.change, form=DestinationEdit, again=editing.edit),
    Screen(method="POST", path=f"{_ONE}/preview", run=editing.try_edit, form=DestinationEdit, again=editing.edit),
    Screen(method="POST", path=f"{_ONE}/test", run=acting.test, form=Form, again=one.one),
    Screen(method="POST", path=f"{_ONE}/invite", run=acting.invite, form=Form, again=one.one),
    Screen(method="POST", path=f"{_ONE}/rotate", run=acting.rotate, form=Form, again=one.one),
    Screen(method="POST", path=f"{_ONE}/resume", run=acting.resume, form=Form, again=one.one),
    Screen(method="POST", path=f"{_ONE}/pause", run=acting.pause, form=Form, again=one.one),
    Screen(method="POST", path=f"{_ONE}/decline", run=acting.decline, form=Form, again=one.one),
    Screen(method="POST", path=f"{_ONE}/delete", run=acting.delete, form=Deletion, again=one.one),
    Screen(path=f"{_ONE}/deliveries", run=deliveries.deliveries, query=deliveries.DeliveriesQuery),
    Screen(path=f"{_ONE}/deliveries/{{number}}", run=deliveries.attempt),
    Screen(method="POST", path=f"{_ONE}/replay", run=acting.again, form=acting.Replay, again=deliveries.deliveries),
)
