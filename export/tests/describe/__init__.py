"""Models that see and write."""
