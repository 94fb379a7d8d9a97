"""Audits: evidence of pages, rules over it, and findings."""
