"""The files of a release, and whether they are what was released: `sanderling verify-release`.

`sums.py` reads and writes SHA256SUMS, `keys.py` the PEM of Ed25519 keys as openssl makes them, `checking.py` judges
what lies there; these three are pure. `verify.py` reads the files and tells. `release/` makes what is checked here.
"""
