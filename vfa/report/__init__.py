"""What a report looks like to a program, in a terminal, in a browser and on paper.

Needs the words of ``vfa.audit.findings`` and nothing of the engine. Each module imports its
library inside the function that uses it, so importing this package costs nothing.
"""
