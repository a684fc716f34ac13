"""The common part of the engines that speak SQL: the stores, and the thread that writes for them.

A store hands in jobs, which run inside a transaction of the engine's, and looks, which run on a connection that only
reads. `?` holds the place of a value in every statement. An engine whose database has other words for
something puts them in their place. Each file of `stores/` is one noun of `storage/interface`. May import what storage
may.
"""
