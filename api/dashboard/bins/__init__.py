"""The screens of webhook bins: the list, one bin with its captures, one capture with both signatures.

A capture is shown only as text; its raw body is a download. May import whatever `api.dashboard` may. Start with
`listing.py`.
"""
