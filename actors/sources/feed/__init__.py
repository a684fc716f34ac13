"""The tier of feeds: entries that are new or edited, by their keys."""
