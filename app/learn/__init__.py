"""The Learn tab: chapters, recordings to step through, and their sounds."""
