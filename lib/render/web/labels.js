// Text on canvases: labels cut at a grapheme, turned when they do not fit, every k-th when there are too many.

const FONT_FAMILY = (description.options.font ? `"${description.options.font.replace(/["\\]/g, '')}", ` : '') +
  'system-ui, "Noto Sans", "DejaVu Sans", sans-serif';

const labelFont = (pixels, weight = 'normal') => `${weight} ${pixels}px ${FONT_FAMILY}`;

function graphemes(text) {
  if (!Intl.Segmenter) return Array.from(text);
  return Array.from(new Intl.Segmenter(undefined, {granularity: 'grapheme'}).segment(text), (part) => part.segment);
}

const cutLabels = new Map();

/** `text`, or as much of it as fits with an ellipsis. */
function cutLabel(context, text, width) {
  const id = `${context.font}|${Math.round(width)}|${text}`;
  let cut = cutLabels.get(id);
  if (cut !== undefined) return cut;
  cut = text;
  if (context.measureText(text).width > width) {
    const parts = graphemes(text);
    let count = 0;
    let most = parts.length;
    while (count < most) {  // the most graphemes that fit
      const middle = (count + most + 1) >> 1;
      if (context.measureText(parts.slice(0, middle).join('') + '…').width <= width) count = middle;
      else most = middle - 1;
    }
    cut = parts.slice(0, count).join('') + '…';
  }
  if (cutLabels.size > 20000) cutLabels.clear();
  cutLabels.set(id, cut);
  return cut;
}

/** Width of the widest label of an axis, at most `limit`; the longest texts stand for all. */
function widestLabel(context, axis, limit) {
  const longest = [];
  for (let i = 0; i < axis.count; ++i) longest.push(axis.shown(i));
  longest.sort((a, b) => b.length - a.length);
  let widest = 0;
  for (const text of longest.slice(0, 100)) {
    widest = Math.max(widest, context.measureText(text).width);
    if (widest >= limit) return limit;
  }
  return Math.ceil(widest);
}

/** How many cells lie from one label to the next, a power of two. */
function labelStep(lineHeight, cellSize) {
  let step = 1;
  while (step * cellSize < lineHeight) step *= 2;
  return step;
}
