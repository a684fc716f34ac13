"""The master key of a data folder: where its own one lies, and which key opens its database."""
