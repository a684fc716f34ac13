"""What the engines that speak SQL have in common: the stores, and the thread that writes for them.

A store hands in jobs, which run inside a transaction of the engine's, and looks, which run on a connection that only
reads. `?` holds the place of a value in every statement. Where two databases do not understand the same words, the
`Dialect` has them. Each file of `stores/` is one noun of `storage/interface`. May import what storage may.
"""
