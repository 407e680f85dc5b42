"""What runs plans: devices by name, sessions, what stays on a device, and the runners."""
