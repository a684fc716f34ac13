"""The kind `webpush`: notifications on a subscribed phone or computer, through its browser's push service.

`kind.py` is the row, with all but the cryptography, which is in `encryption.py`. Imports of that are late: the library
takes 11 MB, which a service without devices saves.
"""
