"""The kind `webpush`: notifications on a subscribed phone or computer, through its browser's push service.

`encryption.py` is RFC 8291 on RFC 8188 and `vapid.py` RFC 8292, both on P-256 (`points.py`); `payload.py` makes the
device's text, `answers.py` interprets the response (RFC 8030), `keys.py` has this service's one key; `kind.py` is the
row. Imports of the library are late: it takes 11 MB, which a service without devices saves.
"""
