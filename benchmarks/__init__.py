"""Speed beside the libraries that arrowprep replaces: `python -m benchmarks.run`."""
