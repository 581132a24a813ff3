"""Datasets: an immutable value over Arrow files, and the operations on it."""
