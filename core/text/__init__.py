"""Text to phonemes: normaliser, sentence splitter, phonemizer."""
