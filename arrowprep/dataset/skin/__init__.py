"""The methods of Dataset, a file a subject; `dataset.py` puts them together."""
