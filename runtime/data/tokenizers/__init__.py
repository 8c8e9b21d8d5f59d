"""The libraries that cut text into pieces, behind one interface."""
