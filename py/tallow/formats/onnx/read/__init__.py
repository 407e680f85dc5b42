"""From the bytes of a file to records.py: checked, plain data."""
