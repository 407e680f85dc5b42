"""Optimisers and schedules of their settings, under PyTorch's names."""
