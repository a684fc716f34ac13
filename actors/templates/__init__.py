"""Templates: ready-made groups of sources with suggested alerts, attached in one call.

Pure: `template.py` (the records), `reading.py` with `checks.py` (from TOML, by `actors/catalogue/`), `domain.py` and
`parameters.py` (the caller's input), `expansion.py` (the resulting URLs). The templates of the contract are data in
`builtin/`; `catalogue.py` adds those of a user's folder. Start with `instantiation.py`, which attaches them. It may
import the parts of sources, and is imported by `app_context.py`, the front end and the composition root.
"""
