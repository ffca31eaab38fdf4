"""One file per voice family."""
