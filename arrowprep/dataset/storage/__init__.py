"""Arrow files: written aside, renamed when whole, mapped; and the cache of results."""
