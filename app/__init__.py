"""The Gradio page. Imports no torch: it renders events and traces."""
