"""What runs plans: devices by name, sessions, and a runner for each kind of device."""
