"""Derivatives: the gradient state of nodes (past.py), a rule for every op, reverse mode as a
rewrite of graphs, and what users call.

Only past.py is imported with the library; the rest with optimisers, or when a
derivative is first asked for.
"""

from .past import with_gradient

__all__ = ["with_gradient"]
