"""One module a library, with the same function names in each; a job is measured by calling them."""
