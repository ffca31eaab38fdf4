// The player: the body of a function that Gradio calls with `element`, `props`, `watch` and
// `server`. It fetches numbered pieces of 16-bit mono sound and plays them without gaps.
//
// The context runs at the sound's own rate: pieces that are resampled one by one would click
// where they meet. `element.player` is there for tests.

const LEAD = 0.05; // seconds between the arrival of a piece and its sound, after a wait
const RETRY = 1000; // milliseconds until pieces are asked for again after a failure
const POLL = 250; // milliseconds between looks for a value that came before `watch` listened
const find = (name) => element.querySelector(`.${name}`);

let context = null;
let run = null;
let seen = null; // the latest value
let shown = {}; // the value that the page shows
let drawing = false; // whether a frame is asked for
element.player = { pcm: () => (run ? join(run.pieces) : new Int16Array()) };

function audio(rate) {
  if (context?.sampleRate !== rate) context = new AudioContext({ sampleRate: rate });
  context.resume();
  return context;
}

function decode(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Int16Array(bytes.buffer);
}

function join(pieces) {
  const all = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function begin(value) {
  const { run: id, sample_rate: rate } = value;
  return { id, rate, pieces: [], fetching: false, stopped: false, ...silent() };
}

// playing: pieces not yet heard to their end; end: context time at which the last one ends;
// seconds: of sound scheduled so far.
function silent() {
  return { playing: new Set(), end: 0, seconds: 0 };
}

function schedule(piece) {
  const to = audio(run.rate);
  const buffer = to.createBuffer(1, piece.length, run.rate);
  buffer.copyToChannel(Float32Array.from(piece, (sample) => sample / 32767), 0);
  const source = new AudioBufferSourceNode(to, { buffer });
  const playing = run.playing;
  source.onended = () => playing.delete(source);
  source.connect(to.destination);
  if (run.end < to.currentTime) run.end = to.currentTime + LEAD;
  source.start(run.end);
  run.end += buffer.duration;
  run.seconds += buffer.duration;
  playing.add(source);
  draw();
}

function silence() {
  for (const source of run?.playing ?? []) source.stop();
}

// What the run has sent so far can still be played again.
function stop() {
  silence();
  if (run) Object.assign(run, silent(), { stopped: true });
  draw();
}

// Updates of the page may be merged, so a run's new pieces are asked for, not pushed.
async function fetchPieces() {
  const mine = run;
  const wanted = () => mine === run && !mine.stopped;
  if (!mine || mine.fetching) return;
  mine.fetching = true;
  try {
    while (wanted() && mine.pieces.length < shown.pieces) {
      const pieces = await server.sound([mine.id, mine.pieces.length]);
      if (!wanted() || !pieces.length) break; // stopped, or the server forgot the run
      for (const piece of pieces.map(decode)) {
        mine.pieces.push(piece);
        schedule(piece);
      }
    }
  } catch (error) {
    console.warn("Forespeak: the sound did not come, asking again.", error);
    setTimeout(fetchPieces, RETRY);
  } finally {
    mine.fetching = false;
    showTools();
  }
}

function showTools() {
  const usable = Boolean(run?.pieces.length) && shown.kind !== "busy";
  find("again").disabled = find("save").disabled = !usable;
}

// Frames are drawn only while there is sound ahead.
function draw() {
  if (!drawing) requestAnimationFrame(showFrame);
  drawing = true;
}

function showFrame() {
  drawing = false;
  const ahead = run && context ? Math.max(0, run.end - context.currentTime) : 0;
  const heard = Math.max(0, (run?.seconds ?? 0) - ahead);
  find("heard").max = run?.seconds || 1;
  find("heard").value = heard;
  find("clock").textContent = run?.seconds
    ? `${heard.toFixed(1)} s / ${run.seconds.toFixed(1)} s`
    : "0.0 s";
  if (ahead > 0) draw();
}

function update() {
  seen = props.value;
  const value = seen ?? {};
  if (value.run && value.run === run?.id && run.stopped) return; // overtaken by Stop
  shown = value;
  find("status").textContent = value.status ?? ""; // text, never markup
  find("status").dataset.kind = value.kind ?? "";
  if (value.run && value.run !== run?.id) {
    silence();
    run = begin(value);
    draw();
  } else if (!value.run) {
    stop();
  }
  if (value.run) fetchPieces();
  showTools();
}

function playAgain() {
  silence();
  Object.assign(run, silent());
  schedule(join(run.pieces));
}

function saveWav() {
  const pcm = join(run.pieces);
  const header = new DataView(new ArrayBuffer(44));
  const text = (at, letters) => [...letters].forEach((c, i) => header.setUint8(at + i, c.charCodeAt(0)));
  text(0, "RIFF");
  header.setUint32(4, 36 + pcm.byteLength, true);
  text(8, "WAVEfmt ");
  header.setUint32(16, 16, true); // size of the format
  header.setUint16(20, 1, true); // PCM
  header.setUint16(22, 1, true); // channels
  header.setUint32(24, run.rate, true);
  header.setUint32(28, 2 * run.rate, true); // bytes per second
  header.setUint16(32, 2, true); // bytes per frame
  header.setUint16(34, 16, true); // bits per sample
  text(36, "data");
  header.setUint32(40, pcm.byteLength, true);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([header, pcm], { type: "audio/wav" }));
  link.download = "forespeak.wav";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // some browsers read it later
}

// Browsers let sound begin only from a press; the answer to Speak comes too late for some.
for (const press of ["pointerdown", "keydown"]) {
  document.addEventListener(press, () => props.value?.sample_rate && audio(props.value.sample_rate), true);
}
find("again").addEventListener("click", playAgain);
find("save").addEventListener("click", saveWav);
watch("value", update);
update();
setInterval(() => props.value !== seen && update(), POLL);
