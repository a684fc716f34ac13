"""Maintain an instance: backup, doctor, standby, self-test, installation. Start with `findings.py`."""
