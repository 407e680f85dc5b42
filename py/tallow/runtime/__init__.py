"""What runs plans, and what stays on a device between runs."""
