"""File formats, a folder each."""
