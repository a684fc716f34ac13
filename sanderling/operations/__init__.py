"""The upkeep of an instance over years: backup and restore, the doctor, the self-test of a build, the installation."""
