"""`build.py rehearse`: deploy/ without a registry of images, a cluster or a daemon."""
