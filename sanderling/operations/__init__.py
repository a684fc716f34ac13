"""Maintain an instance: backup and restore, doctor, standby, self-test of a build, installation."""
