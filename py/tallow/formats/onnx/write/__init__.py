"""Turns a graph into the bytes of a file."""
