"""Check the files of a release: `sanderling verify-release`.

`sums.py` reads and writes SHA256SUMS, `keys.py` openssl's PEM of Ed25519 keys, `checking.py` judges files; these three
are pure. `verify.py` reads the files and reports. `release/` makes releases.
"""
