"""The master key of a data folder: its own key file, and which key opens its database."""
