"""The account of the dashboard's user: passwords, signing in, settings, API keys.

May import whatever `api.dashboard` may. Start with `entry.py`.
"""
