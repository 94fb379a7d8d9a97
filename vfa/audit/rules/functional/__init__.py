"""Rules about what a page does: controls, links, scripts."""
