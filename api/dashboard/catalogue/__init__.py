"""The screens of templates: the catalogue, one template with its form, the preview, the report.

Named after their content, because `templates/` holds the dashboard's own page templates. May import whatever
`api.dashboard` may. Start with `pages.py`.
"""
