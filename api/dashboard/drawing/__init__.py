"""Drawing for many screens: times, amounts and charts, differences. All of it is pure. Start with `figures.py`."""
