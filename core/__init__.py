"""Forespeak core: a speculative decoder for codec-token speech. Knows nothing of the page."""
