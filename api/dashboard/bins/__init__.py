"""The screens of webhook bins: the list, one bin with what it was sent, one capture with both its signatures.

What a stranger has sent is shown as text and nothing else; a body as it came is a download. May import what
`api.dashboard` may. Start with `listing.py`.
"""
