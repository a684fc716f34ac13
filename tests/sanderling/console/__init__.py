"""The console against a fake service in its own process, and once against a real one in a pseudo-terminal."""
