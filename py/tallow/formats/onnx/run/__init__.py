"""Turns records into graphs and runs them stage by stage, with host steps in between."""
