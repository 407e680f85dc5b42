"""The Python side of the page: app.py has the functions that the worker calls."""
