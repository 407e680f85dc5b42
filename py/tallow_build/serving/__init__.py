"""Serves a folder on a port, and runs a Python file in a browser that loads it."""
