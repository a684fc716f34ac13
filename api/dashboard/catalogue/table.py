"""The screens of templates."""

from __future__ import annotations

from api.dashboard.catalogue import pages
from api.dashboard.catalogue.fields import Fill
from api.dashboard.screen import Screen

_ONE = "/templates/{template_id}"
SCREENS = (
    Screen(path="/templates", run=pages.show_all),
    Screen(path=_ONE, run=pages.show_one),
    Screen(method="POST", path=f"{_ONE}/preview", run=pages.preview, form=Fill, again=pages.show_one),
    Screen(method="POST", path=f"{_ONE}/attach", run=pages.attach, form=Fill, again=pages.show_one),
)
