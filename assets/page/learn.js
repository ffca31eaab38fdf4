// The Learn tab.

/** Called by Gradio for the component of the Learn tab. */
export function mount() {}
