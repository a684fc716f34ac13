"""The two signatures of a delivery: Ed25519 inside the event, HMAC around the request that carries it.

All of it is pure: bytes and records in, bytes out; it may import only `storage.records` and the checks of the Python
client (`sanderling_client.verify`, `receiver/receipt.py`). The recorder signs events, deliveries sign requests; bins
and receivers verify both. Start with `event.py`. `webhook.py` has the Standard Webhooks scheme.
"""
