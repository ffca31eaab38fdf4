// The Listen tab.

/** Called by Gradio for the component of the Listen tab. */
export function mount() {}
