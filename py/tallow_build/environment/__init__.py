"""What the other commands need on this machine: packages, browsers, files from registries."""
