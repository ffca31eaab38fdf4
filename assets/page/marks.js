// What the grid shows besides its cells: words, rounds, the newest token, the playhead.

const ROOM_FOR_FLAGS = 12; // px between two flags
const END = "end";

/** The left edge of a column; whole pixels keep cells sharp and of the same width while they scroll. */
export function edge({ origin, frameWidth }, frame) {
  return origin + Math.round(frame * frameWidth);
}

/** Words as plates over their frames, the one at `now` (in frames of the sentence) inverted. */
export function drawWords(context, { colours, font }, layout, words, x, now) {
  const height = layout.type * 1.5;
  context.font = font;
  for (const { text, start, end, whole } of words) {
    const left = x + start * layout.frameWidth + 1;
    const width = (end - start) * layout.frameWidth - 2;
    if (left > layout.width || left + width < layout.gutter) continue;
    const spoken = now >= start && now < end;
    context.fillStyle = spoken ? colours.ink : colours.faint;
    context.beginPath();
    context.roundRect(left, layout.words, Math.max(1, width), height, Math.min(4, width / 2));
    context.fill();
    context.fillStyle = spoken ? colours.ground : colours.ink;
    const middle = whole ? middleInSight(layout, left, width) : left + width / 2;
    context.fillText(text, middle, layout.words + height / 2 + 1);
  }
}

/** Where a label as long as a sentence is read: in what is seen of it. */
function middleInSight({ gutter, width }, left, length) {
  return (Math.max(left, gutter) + Math.min(left + length, width)) / 2;
}

/** Where sentences ended themselves: a line before what comes next, and a plate. */
export function drawEnds(context, { colours, font }, layout, run, highlight) {
  context.font = font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const width = context.measureText(END).width + layout.type * 0.8;
  for (const end of run.ends) {
    const x = edge(layout, end.frame);
    if (x < layout.gutter || x > layout.width + layout.frameWidth) continue;
    const at = Math.min(x, layout.width - 1);
    const thick = end === highlight?.end ? 5 : 3;
    context.fillStyle = colours.ink;
    context.fillRect(at - thick, layout.sounds, thick, layout.height - layout.sounds);
    const left = Math.max(layout.gutter, at - width);
    context.beginPath();
    context.roundRect(left, layout.sounds, width, layout.type * 1.4, 4);
    context.fill();
    context.fillStyle = colours.ground;
    context.fillText(END, left + width / 2, layout.sounds + layout.type * 0.75);
  }
}

/** Outlines the tokens that came in the same round as that of a cell, and the cell itself twice. */
export function outlineRound(context, { colours }, layout, run, { frame, q, end = null }) {
  const cell = end ?? run.cell(frame, q);
  context.strokeStyle = colours.ink;
  context.lineWidth = 2;
  if (cell) {
    const { firstToken, accepted, ended } = run.rounds[cell.round];
    for (let token = firstToken; token <= firstToken + accepted - ended; token += 1) {
      outline(context, layout, Math.floor(token / layout.Q), token % layout.Q, 0);
    }
  }
  if (end) return;
  context.lineWidth = 4;
  outline(context, layout, frame, q, 1);
}

function outline(context, layout, frame, q, inset) {
  const x = edge(layout, frame) - 1 + inset;
  const width = edge(layout, frame + 1) - layout.gap - x + 1 - inset;
  const y = layout.top + q * layout.row - 1 + inset;
  context.strokeRect(x, y, width, layout.row - 2 * inset);
}

/** Where decoding has got to: the newest token outlined, and a line behind it. */
export function drawFrontier(context, style, layout, run, playheadX) {
  if (!run.spoken || (run.spoken === run.frames * layout.Q && !run.open)) return;
  const { colours } = style;
  const frame = Math.floor((run.spoken - 1) / layout.Q);
  context.strokeStyle = colours.ink;
  context.lineWidth = 2;
  outline(context, layout, frame, (run.spoken - 1) % layout.Q, 0);
  const x = edge(layout, frame + 1);
  context.lineWidth = 1;
  context.setLineDash([4, 4]);
  context.beginPath();
  context.moveTo(x + 0.5, layout.type);
  context.lineTo(x + 0.5, layout.height);
  context.stroke();
  context.setLineDash([]);
  const text = x > layout.width ? "decoded ▸" : "decoded";
  const room = context.measureText(text).width + ROOM_FOR_FLAGS + layout.type;
  if (Math.min(x, layout.width) - playheadX > room) flag(context, style, layout, text, x, colours.muted);
}

/** The line at what is heard now. */
export function drawPlayhead(context, style, layout, x) {
  if (x < layout.gutter - 1 || x > layout.width) return;
  playheadLine(context, style, layout, x);
  flag(context, style, layout, "heard", x, style.colours.ink);
}

/** The playhead's line alone, with a rim that keeps it visible over anything. */
export function playheadLine(context, { colours }, { height, gutter }, x) {
  if (x < gutter - 1) return;
  context.fillStyle = colours.ground;
  context.fillRect(x - 2.5, 0, 5, height);
  context.fillStyle = colours.ink;
  context.fillRect(x - 1.5, 0, 3, height);
}

function flag(context, { colours, font }, { gutter, type, width }, text, x, colour) {
  context.font = font;
  const size = context.measureText(text).width + type * 0.8;
  const left = Math.max(gutter, Math.min(x - size / 2, width - size));
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(left, 0, size, type * 1.4, 4);
  context.fill();
  context.fillStyle = colours.ground;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, left + size / 2, type * 0.75);
}
