"""The dashboard: pages for people, made on the server, over the same operations as the API.

A screen is a record (`screen.Screen`), and `table.SCREENS` lists them all; `face.Dashboard` gives every one of them the
same way in: session, Origin and token of a change, form, page. It may import what `api` may, and acts by
`api.operations`. Start at docs/screens.md, then `screen.py` and `face.py`.
"""
