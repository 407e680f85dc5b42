"""Turns the bytes of a file into records.py's plain data, checked."""
