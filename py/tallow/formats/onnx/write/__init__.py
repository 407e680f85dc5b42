"""From a graph to the bytes of a file."""
