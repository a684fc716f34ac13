"""The database as such: connections, the threads that write, readers, the schema's steps, the watch."""
