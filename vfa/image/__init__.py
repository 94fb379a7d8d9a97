"""Work on pictures.

``header`` and ``plan`` are plain arithmetic and may be used anywhere. ``jobs`` is what the
engine and its picture process say to each other. Everything else needs Pillow, is pure, and
runs in that process only (``worker``).
"""
