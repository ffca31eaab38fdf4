"""The Gradio page. Imports no torch: it renders events and traces."""

__version__ = "0.1.0"
