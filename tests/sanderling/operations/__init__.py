"""Backup and restore, the self-test, the check-up."""
