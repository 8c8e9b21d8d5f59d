"""From raw files to training rows."""
