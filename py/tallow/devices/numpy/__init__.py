"""NumPy as a device: its target, and what runs plans there."""
