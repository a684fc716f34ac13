"""The kind `webpush`: notifications on a phone or computer whose browser has subscribed, by its maker's push service.

`encryption.py` is RFC 8291 on RFC 8188 and `vapid.py` RFC 8292, both on P-256 (`points.py`); `payload.py` is what the
device is told, `answers.py` what the push service means (RFC 8030), `keys.py` the one key of this service; `kind.py`
is the row. Only what is imported late reaches the library: it takes 11 MB, which a service without devices spares.
"""
