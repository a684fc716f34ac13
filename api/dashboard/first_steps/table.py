"""The screens of the first steps."""

from __future__ import annotations

from api.dashboard.first_steps import page, steps
from api.dashboard.forms import Form
from api.dashboard.screen import Screen

PATH = steps.PATH
SCREENS = (
    Screen(path=PATH, run=page.show),
    Screen(method="POST", path=f"{PATH}/change", run=steps.change, form=steps.Change, again=page.show),
    Screen(method="POST", path=f"{PATH}/key", run=steps.make_key, form=Form, again=page.show),
    Screen(method="POST", path=f"{PATH}/wire", run=steps.wire, form=Form, again=page.show),
    Screen(method="POST", path=f"{PATH}/end", run=steps.end, form=Form, again=page.show),
)
