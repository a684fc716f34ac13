"""The screens of alerts."""

from __future__ import annotations

from api.dashboard.alerts import editing, listing, one
from api.dashboard.alerts.form import AlertEdit, NewAlertForm
from api.dashboard.confirming import Deletion
from api.dashboard.forms import Form
from api.dashboard.screen import Screen

SCREENS = (
    Screen(path="/alerts", run=listing.listing, query=listing.AlertsQuery),
    Screen(path="/alerts/new", run=editing.new, query=editing.NewQuery),
    Screen(method="POST", path="/alerts/new", run=editing.create, form=NewAlertForm, again=editing.new),
    Screen(method="POST", path="/alerts/try", run=editing.try_new, form=NewAlertForm, again=editing.new),
    Screen(path="/alerts/{id}", run=one.one, query=one.OneQuery),
    Screen(path="/alerts/{id}/edit", run=editing.edit),
    Screen(method="POST", path="/alerts/{id}/edit", run=editing.change, form=AlertEdit, again=editing.edit),
    Screen(method="POST", path="/alerts/{id}/try", run=editing.try_edit, form=AlertEdit, again=editing.edit),
    Screen(method="POST", path="/alerts/{id}/resume", run=one.resume, form=Form, again=one.one),
    Screen(method="POST", path="/alerts/{id}/pause", run=one.pause, form=Form, again=one.one),
    Screen(method="POST", path="/alerts/{id}/seen", run=one.seen, form=Form, again=one.one),
    Screen(method="POST", path="/alerts/{id}/delete", run=one.delete, form=Deletion, again=one.one),
)
