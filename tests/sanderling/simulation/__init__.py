"""The simulation: its network, its determinism, its oracle, and the planted bugs that it must find."""
