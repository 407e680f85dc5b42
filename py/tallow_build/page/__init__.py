"""Builds dist/, the page as a plain folder: its parts, their names, their sizes, their headers."""
