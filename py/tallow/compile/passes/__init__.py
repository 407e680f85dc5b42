"""The passes, each from a graph to a graph; compile/__init__.py lists them in their order."""
