"""The screens of templates: the catalogue, one template with its form, what it would attach, and the report.

Called by what they show, as `templates/` beside it holds the pages' own. May import what `api.dashboard` may. Start
with `pages.py`.
"""
