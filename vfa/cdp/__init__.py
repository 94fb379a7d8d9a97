"""The Chrome DevTools Protocol: a pure dialogue, a connection, sessions, two transports.

Source: https://chromedevtools.github.io/devtools-protocol/ (flat sessions).
"""
