"""What is done to a whole database: copied, upgraded, rebuilt, sealed with another key."""
