// Colours for light and dark, and the look of each verdict: a colour and a shape, so that a washed-out
// projector, a grey print and a colour-blind eye can still tell them apart. Hues are Okabe and Ito's.

const LIGHT = {
  ground: "#ffffff",
  ink: "#18181b",
  muted: "#5c5c66",
  faint: "#dbdbe0",
  accepted: "#0072b2",
  rejected: "#d55e00",
  corrected: "#f0e442",
  bonus: "#009e73",
  plain: "#56b4e9",
  pending: "#85858f",
  outline: "#27272a",
  onDark: "#ffffff",
  onLight: "#18181b",
  draft: "#a8447f",
  verify: "#8a8a96",
  ahead: "#0072b2",
  series: ["#27272a", "#a8447f", "#a86400", "#1d6fa5"],
};

const DARK = {
  ...LIGHT,
  ground: "#0f0f11",
  ink: "#f4f4f5",
  muted: "#a6a6b0",
  faint: "#333338",
  pending: "#777781",
  draft: "#e08fc0",
  verify: "#83838f",
  ahead: "#56b4e9",
  series: ["#f4f4f5", "#e08fc0", "#e69f00", "#56b4e9"],
};

/** Line patterns that go with `series`, so that lines differ without their colours. */
export const DASHES = [[], [9, 4], [2, 3], [9, 3, 2, 3]];

/** The colours for where `element` stands; Gradio puts the class "dark" on the body. */
export function palette(element) {
  return element.closest(".dark") ? DARK : LIGHT;
}

/** Share of a corrected cell's height that shows what the draft had proposed. */
export const REJECTED_SHARE = 0.42;
const ROOM_FOR_SHAPES = 6; // px; narrower cells become marks of different heights

const SHAPES = {
  accepted: {
    trace: (context, x, y, w, h) => context.roundRect(x, y, w, h, Math.min(3, w / 4)),
    paint: fill("accepted"),
  },
  rejected: {
    trace: cross,
    paint(context, colours, size) {
      stroke(context, colours.rejected, Math.min(3.5, Math.max(2, size / 5)));
    },
  },
  corrected: {
    trace: ring,
    paint(context, colours, size) {
      const thick = Math.min(4, Math.max(2, size / 5));
      stroke(context, colours.outline, thick + 2);
      stroke(context, colours.corrected, thick);
    },
  },
  bonus: {
    trace: diamond,
    paint: fill("bonus"),
  },
  plain: {
    trace: (context, x, y, w, h) => context.rect(x + 0.5, y + h / 4, w - 1, h / 2),
    paint(context, colours) {
      fill("plain")(context, colours);
      stroke(context, colours.outline, 1);
    },
  },
  pending: {
    trace: (context, x, y, w, h) => context.rect(x + 1.5, y + h / 5, w - 3, (h * 3) / 5),
    paint(context, colours) {
      context.setLineDash([2, 3]);
      stroke(context, colours.pending, 1);
      context.setLineDash([]);
    },
  },
};

/** Share of the cell's height by kind, around its middle, where it is too narrow for a shape. */
const MARKS = { accepted: 1, rejected: 1, corrected: 1, bonus: 0.5, plain: 0.4, pending: 0.1 };
const PALE = new Set(["corrected", "plain"]); // these need dark ends to be seen on white
const RIM = 2; // px

export const KINDS = Object.keys(SHAPES);

/**
 * Draws cells of one kind at once: one path, one colour.
 * @param {number[]} boxes x, y, width, height of each cell, one after another.
 */
export function drawCells(context, colours, kind, boxes) {
  if (!boxes.length) return;
  if (boxes[2] < ROOM_FOR_SHAPES) {
    drawMarks(context, colours, kind, boxes);
    return;
  }
  const { trace, paint } = SHAPES[kind];
  context.beginPath();
  for (let i = 0; i < boxes.length; i += 4) {
    trace(context, boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]);
  }
  paint(context, colours, Math.min(boxes[2], boxes[3]));
}

/** The colour of a number written on a cell of this kind. */
export function inkOn(kind, colours) {
  if (kind === "accepted") return colours.onDark;
  return kind === "bonus" || kind === "plain" ? colours.onLight : colours.ink;
}

function drawMarks(context, colours, kind, boxes) {
  const share = MARKS[kind];
  if (PALE.has(kind)) fillBoxes(context, colours.outline, boxes, share);
  fillBoxes(context, colours[kind], boxes, share, PALE.has(kind) ? RIM : 0);
}

/**
 * Fills the middle of each box: `share` of its height, less `rim` px at both ends. One by one, which
 * is many times faster than one path of them all where the processor draws.
 */
export function fillBoxes(context, colour, boxes, share = 1, rim = 0) {
  context.fillStyle = colour;
  for (let i = 0; i < boxes.length; i += 4) {
    const height = share * boxes[i + 3] - 2 * rim;
    context.fillRect(boxes[i], boxes[i + 1] + (boxes[i + 3] - height) / 2, boxes[i + 2], height);
  }
}

function fill(name) {
  return (context, colours) => {
    context.fillStyle = colours[name];
    context.fill();
  };
}

function stroke(context, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

function cross(context, x, y, w, h) {
  const size = Math.min(w, h) / 2 - 1.5;
  const cx = x + w / 2;
  const cy = y + h / 2;
  context.moveTo(cx - size, cy - size);
  context.lineTo(cx + size, cy + size);
  context.moveTo(cx + size, cy - size);
  context.lineTo(cx - size, cy + size);
}

/** A circle, or, in a wide cell, an oblong that leaves room for a number. */
function ring(context, x, y, w, h) {
  const inset = Math.min(4, Math.max(2, Math.min(w, h) / 5)) / 2 + 1;
  const height = Math.min(w, h) - 2 * inset;
  context.roundRect(x + inset, y + (h - height) / 2, w - 2 * inset, height, height / 2);
}

function diamond(context, x, y, w, h) {
  context.moveTo(x + w / 2, y);
  context.lineTo(x + w, y + h / 2);
  context.lineTo(x + w / 2, y + h);
  context.lineTo(x, y + h / 2);
  context.closePath();
}
