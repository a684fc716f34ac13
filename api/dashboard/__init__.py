"""The dashboard: server-rendered pages for people, over the same operations as the API.

A screen is a record (`screen.Screen`), and `table.SCREENS` lists them all. `face.Dashboard` guards each alike: session,
Origin, form token, form, page. The dashboard may import the same as `api`, and acts through `api.nouns`. Start
with docs/screens.md, then `screen.py`, `face.py` and `catalogue.py`, a small noun.
"""
