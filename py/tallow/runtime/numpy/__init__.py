"""Plans on NumPy."""
