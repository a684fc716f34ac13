"""The two signatures of a delivery: Ed25519 inside the event, HMAC around the request that carries it.

All of it is pure: bytes and records in, bytes and verdicts out; it may import only `storage.records`. The recorder
signs events, deliveries sign requests, bins and the receiver verify both. Start with `event.py`. `webhook.py`
has the Standard Webhooks scheme, `receipt.py` the receiver's view of both.
"""
