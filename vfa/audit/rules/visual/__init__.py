"""Rules about what a page looks like."""
