"""What a report looks like: to a program (``json``), in a terminal (``table``), on paper or in
a browser (``html``).

Needs the words of ``vfa.audit.findings`` and nothing of the engine. Each module imports its
library inside the function that uses it, so importing this package costs nothing.
"""
