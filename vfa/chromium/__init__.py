"""Chromium as a program: where it is, how it is started, where its profile lives.

Owns no process. ``find`` says which program, ``flags`` with which arguments, ``profile`` on
which directory, ``install`` how to get one; ``actors/browser.py`` does the rest.
"""
