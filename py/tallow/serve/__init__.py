"""Serves networks, and lends devices: see README.md."""
