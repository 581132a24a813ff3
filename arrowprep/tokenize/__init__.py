"""Tokenizers: the object model, the reference engine, and the shell that users call."""
