// Sound of 16 bits as Web Audio wants it. No DOM, no state.

const SCALE = 32767; // as the engine scales: a sample's float and back is exact

/** Samples as the server sends them: base64 of int16, lowest byte first. */
export function decode(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Int16Array(bytes.buffer);
}

/** A context of this rate; of its own rate where the browser refuses that. */
export function createContext(sampleRate) {
  try {
    return new AudioContext({ sampleRate });
  } catch {
    return new AudioContext();
  }
}

/** Let a context sound. Without a user's gesture it waits or fails; its state says so. */
export function resume(context) {
  context.resume().catch(() => {});
}

/** Seconds from the context's clock to the ear. */
export function latency(context) {
  return context.outputLatency || context.baseLatency || 0;
}

/** A buffer of these samples. Throws where the browser refuses the rate. */
export function bufferOf(context, pcm, sampleRate) {
  const buffer = context.createBuffer(1, pcm.length, sampleRate);
  const floats = buffer.getChannelData(0);
  for (let i = 0; i < pcm.length; i++) floats[i] = pcm[i] / SCALE;
  return buffer;
}

/**
 * Seconds at which a sample is due. A time that lies before its sample by a rounding error would
 * make Chromium interpolate.
 */
export function timeOf(sample, rate) {
  const exact = sample / rate;
  return exact * rate < sample ? exact * (1 + Number.EPSILON) : exact;
}
