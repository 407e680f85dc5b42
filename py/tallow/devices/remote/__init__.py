"""A device on another machine, reached through a WebSocket: see README.md."""
