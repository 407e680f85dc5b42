"""What the page may ask of Python: app.py has the functions that the worker calls."""
