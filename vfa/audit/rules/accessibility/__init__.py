"""Rules about who can use a page, after WCAG 2.2."""
