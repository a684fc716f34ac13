"""Commands by noun: `keys.py` is about API keys, `signing.py` about signing and master keys."""
