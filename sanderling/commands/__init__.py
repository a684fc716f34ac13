"""Commands by noun: `keys.py` is about API keys, signing keys and the master key."""
