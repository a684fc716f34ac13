"""Templates: ready-made groups of sources with suggested alerts, attached in one call.

Pure: `template.py` (the records), `reading.py` with `checks.py` (from TOML, by `actors/catalogue/`),
`domain.py` and `parameters.py` (what a caller fills in), `expansion.py` (the URLs that come of it). The
templates of the contract are data, in `builtin/`; `catalogue.py` holds them beside those of a user's folder. Start with
`instantiation.py`, which attaches. It may import what sources are made of, and is imported by `app_context.py`, the
front end and the composition root.
"""
