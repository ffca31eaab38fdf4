"""Codes to waveform, offline and streaming."""
