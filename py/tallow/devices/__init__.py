"""A folder for each kind of device: all that differs between them. See README.md."""
