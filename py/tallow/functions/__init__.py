"""The array functions, a file per chapter of the Python array API standard.

names.py lists them; each is imported when it is first asked for.
"""

from ..binding import getter

__getattr__ = getter(globals(), "tallow", under="functions.")
