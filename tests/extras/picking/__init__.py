"""Choosing a part of a page by its blocks."""
