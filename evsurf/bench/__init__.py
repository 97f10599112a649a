"""What this machine makes of the library: times, memory, and whether the results are right."""
