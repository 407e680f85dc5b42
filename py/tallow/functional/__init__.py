"""Neural network functions, composed of ops.

Names and layouts follow torch.nn.functional; images are NCHW, weights OIHW. names.py lists the
functions; each is imported when it is first asked for.
"""

from ..binding import getter

__getattr__ = getter(globals(), "functional")
