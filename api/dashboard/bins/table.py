"""The screens of bins."""

from __future__ import annotations

from api.dashboard.bins import captured, listing, one
from api.dashboard.forms import Form
from api.dashboard.screen import Screen

_ONE = "/webhook-bins/{id}"
SCREENS = (
    Screen(path="/webhook-bins", run=listing.show_all, query=listing.BinsQuery),
    Screen(method="POST", path="/webhook-bins", run=listing.mint, form=Form, again=listing.show_all),
    Screen(path=_ONE, run=one.show, query=one.CapturesQuery),
    Screen(method="POST", path=f"{_ONE}/attach", run=one.attach, form=one.Attach, again=one.show),
    Screen(method="POST", path=f"{_ONE}/test", run=one.test, form=Form, again=one.show),
    Screen(method="POST", path=f"{_ONE}/delete", run=one.delete, form=one.Deletion, again=one.show),
    Screen(path=f"{_ONE}/captures/{{number}}", run=captured.show),
    Screen(path=f"{_ONE}/captures/{{number}}/body", run=captured.download),
)
