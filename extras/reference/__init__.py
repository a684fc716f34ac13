"""The description of the API for people: the reference at `/docs`, and a page for each problem type.

It is rendered on the server from `/openapi.json` alone, without scripts, fonts or external resources. So it works
offline and in any browser, and find-in-page finds everything, since nothing is folded. Templates escape every value,
so text cannot become markup. Start with `templates/reference.html`, then `page.py`; `routes.py` serves. No setting
switches it: the service imports it at the start, and renders each page when it is first requested.
"""

from __future__ import annotations

from actors.extras import Extra, member

EXTRA = Extra(routes=lambda: {"reference": member("extras.reference.routes", "ROUTES")()})
