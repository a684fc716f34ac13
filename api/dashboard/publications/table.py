"""The screens of publications."""

from __future__ import annotations

from api.dashboard.confirming import Deletion
from api.dashboard.forms import Form
from api.dashboard.publications import editing, listing, one
from api.dashboard.publications.form import PublicationEdit, PublicationForm
from api.dashboard.screen import Screen

_ONE = "/publications/{id}"
SCREENS = (
    Screen(path="/publications", run=listing.show_all, query=listing.PublicationsQuery),
    Screen(path="/publications/new", run=editing.new, query=editing.NewQuery),
    Screen(method="POST", path="/publications/new", run=editing.create, form=PublicationForm, again=editing.new),
    Screen(path=_ONE, run=one.show),
    Screen(path=f"{_ONE}/edit", run=editing.edit),
    Screen(method="POST", path=f"{_ONE}/edit", run=editing.change, form=PublicationEdit, again=editing.edit),
    Screen(method="POST", path=f"{_ONE}/address", run=one.readdress, form=one.Readdress, again=one.show),
    Screen(method="POST", path=f"{_ONE}/seen", run=one.seen, form=Form, again=one.show),
    Screen(method="POST", path=f"{_ONE}/delete", run=one.delete, form=Deletion, again=one.show),
)
