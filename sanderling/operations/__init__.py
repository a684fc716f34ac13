"""What keeps an instance for years: backup and restore, the doctor, the self-test of a build, the installation."""
