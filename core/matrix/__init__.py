"""Every draft with every rule on the same sentences: what is measured, kept, and made of it."""
