"""The tier of pages: one page's text against what was settled before."""
