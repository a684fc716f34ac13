"""Heartbeats: to an external monitor (`monitor`), and as signed events in the log (`beat`, `beating`)."""
