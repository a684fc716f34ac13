"""The account of the dashboard's user: passwords, signing in, settings, API keys.

May import the same as `api.dashboard`. Start with `entry.py`.
"""
