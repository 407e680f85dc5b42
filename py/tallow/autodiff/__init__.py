"""Derivatives: what nodes remember for them (history.py), a rule for every op, reverse mode as a
rewrite of graphs, and what users call.

Only history.py is imported with the library; the rest with optimisers, or when a
derivative is first asked for.
"""
