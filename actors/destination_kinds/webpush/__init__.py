"""The kind `webpush`: notifications on a subscribed phone or computer, through its browser's push service.

`kind.py` is the row, `encryption.py` the cryptography. It is imported only to notify a device, since its library takes
11 MB.
"""
