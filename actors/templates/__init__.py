"""Templates: ready-made groups of sources with suggested alerts, attached in one call.

`template.py` has the records, from TOML by `actors/catalogue.py`, the caller's input and the resulting URLs. The
templates of the contract are data in `builtin/`; a user's folder may add more. Start with `instantiation.py`, which
attaches them. It may import the parts of sources, and is imported by `app_context.py`, the front end and the
composition root.
"""
