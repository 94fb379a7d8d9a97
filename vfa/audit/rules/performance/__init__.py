"""Rules about how long a page makes people wait."""
