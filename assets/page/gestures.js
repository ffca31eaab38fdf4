// Pointer and keyboard on the board of a stage: drag to seek, pinch or Ctrl+wheel to zoom, point
// at a token, or press Enter, to read what happened there.

const DRAG = 5; // pixels that a finger may move in a tap
const WHEEL = 0.01; // how much a unit of the wheel zooms, as an exponent

/** Listens on `stage.board`. */
export class Gestures {
  constructor(stage) {
    this.stage = stage;
    this.pointers = new Map(); // id -> where it is now
    this.dragging = false;
    const on = (type, listener, options) => stage.board.addEventListener(type, listener, options);
    on("pointerdown", (event) => this.#down(event));
    on("pointermove", (event) => this.#move(event));
    on("pointerup", (event) => this.#up(event));
    on("pointercancel", (event) => this.#forget(event));
    on("pointerleave", (event) => event.pointerType === "mouse" && this.point(null));
    on("wheel", (event) => this.#wheel(event), { passive: false });
    on("keydown", (event) => this.#key(event));
    on("blur", () => this.point(null));
    stage.board.style.touchAction = "pan-y"; // up and down scrolls the page
  }

  /** Read the token at a place of the grid, or none. */
  point(place, x = 0, y = 0) {
    const { stage } = this;
    this.place = place;
    stage.highlight = place;
    if (place) stage.inspect.show(stage.run, place.frame, place.q, x, y, place.end);
    else stage.inspect.hide();
    stage.invalidate();
  }

  #down(event) {
    if (event.button) return;
    this.pointers.set(event.pointerId, at(event, this.stage.board));
    this.origin = at(event, this.stage.board);
    this.stage.board.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const here = at(event, this.stage.board);
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse") this.#read(here);
    } else if (this.pointers.size === 2) {
      this.#pinch(event.pointerId, here);
    } else if (this.dragging || Math.abs(here.x - this.origin.x) > DRAG) {
      this.dragging = true;
      this.point(null);
      this.stage.seek(this.stage.view.timeAt(here.x), true);
    }
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, here);
  }

  #up(event) {
    const here = at(event, this.stage.board);
    const tapped = this.pointers.size === 1 && !this.dragging;
    this.#forget(event);
    if (!tapped) return;
    if (event.pointerType === "mouse") this.stage.seek(this.stage.view.timeAt(here.x), true);
    else this.#read(here);
  }

  #forget(event) {
    this.pointers.delete(event.pointerId);
    if (!this.pointers.size) this.dragging = false;
  }

  #pinch(moved, here) {
    const [still] = [...this.pointers].filter(([id]) => id !== moved).map(([, place]) => place);
    const before = Math.abs(this.pointers.get(moved).x - still.x);
    const now = Math.abs(here.x - still.x);
    this.dragging = true; // what comes after is no tap
    if (before > DRAG && now > DRAG) this.stage.zoom(now / before, (here.x + still.x) / 2);
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    this.stage.zoom(Math.exp(-event.deltaY * WHEEL), at(event, this.stage.board).x);
  }

  #read({ x, y }) {
    const { top } = this.stage.gridCanvas.getBoundingClientRect();
    const inside = y - (top - this.stage.board.getBoundingClientRect().top);
    this.point(this.stage.grid.at(x, inside), x, y);
  }

  // Enter reads the token under the playhead; up and down go through its codebooks.
  #key(event) {
    const { run, position } = this.stage;
    if (event.target !== this.stage.board || !run.frames) return;
    const step = { Enter: 0, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const q = Math.min(Math.max(0, (this.place?.q ?? 0) + step), run.Q - 1);
    const frame = Math.min(Math.floor(position / run.secondsPerFrame), run.frames - 1);
    this.point({ frame, q }, this.stage.view.xAt(position), 0);
  }
}

function at(event, element) {
  const { left, top } = element.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}
