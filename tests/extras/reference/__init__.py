"""The API's pages for people."""
