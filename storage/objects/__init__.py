"""Objects: named bytes in a place outside the data folder that another machine can read. One file for each place."""
