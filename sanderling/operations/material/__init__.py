"""A feed of twelve notes and a page, written for this project; the self-test has a worker read them."""
