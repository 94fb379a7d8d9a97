"""What may be reached, written and shown. Pure, but for ``resolve``, which asks the DNS."""
