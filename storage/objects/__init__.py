"""Objects: named bytes in a place outside of the data folder that another machine can read. One file for each place."""
