// What is shown just now. Everything that changes it goes through update(), which draws once for each frame.

const state = {
  layer: 0,
  batch: 0,
  head: 0,            // index into the layer's heads
  view: 'heatmap',    // or 'lines'
  scale: description.options.scale,
  range: 'page',      // 'page', 'head' or 'own'
  low: null,          // of an own range
  high: null,
  zoom: description.options.cell,  // CSS pixels a cell; 0: as large as fits
  relative: false,    // lines: opacity by the colour scale instead of the weight itself
  query: 0,           // the keyboard's cell
  key: 0,
  keyboard: false,    // the keyboard's cell is in use
  hover: null,        // {query, key} under the pointer; either may be -1
  pinned: -1,         // the query that stays
  search: '',
  allKeys: false,     // the panel lists every key
};

const listeners = [];
let drawing = 0;
let changed = new Set();

/** Called with the names that changed, once a frame. */
function onChange(listener) {
  listeners.push(listener);
}

function update(changes) {
  for (const [name, value] of Object.entries(changes)) {
    state[name] = value;
    changed.add(name);
  }
  if (!drawing) drawing = requestAnimationFrame(draw);
}

function draw() {
  drawing = 0;
  const names = changed;
  changed = new Set();
  for (const listener of listeners) listener(names);
}

const currentLayer = () => layers[state.layer];
const currentPlane = () => planeOf(currentLayer(), state.batch, state.head);

/** The query whose keys the panel and the lines show: pinned, else under the pointer, else -1. */
function focusedQuery() {
  if (state.pinned >= 0) return state.pinned;
  return state.hover ? state.hover.query : -1;
}

/** Keeps every index inside the layer after a change of layer. */
function fitToLayer() {
  const layer = currentLayer();
  const inside = (index, count) => clamp(index, 0, Math.max(count - 1, 0));
  state.batch = inside(state.batch, layer.batchCount);
  state.head = inside(state.head, layer.headNumbers.length);
  state.query = inside(state.query, layer.queries);
  state.key = inside(state.key, layer.keys);
  if (state.pinned >= layer.queries) state.pinned = -1;
  state.hover = null;
}

/** "layer attn.2, batch 0, head 3": what of several things is shown. */
function placeText(separator = ', ') {
  const layer = currentLayer();
  const parts = [];
  if (layers.length > 1) parts.push(layer.name || `layer ${layer.number}`);
  if (layer.batches !== null) parts.push(`batch ${state.batch}`);
  if (layer.heads !== null) parts.push(`head ${layer.headNumbers[state.head]}`);
  else if (layer.single_head !== null) parts.push(`head ${layer.single_head}`);
  return parts.join(separator);
}

/** What a cell says: its number, or why it has none. */
function cellText(plane, query, key) {
  const {values, kinds} = plane.row(query);
  switch (kinds[key]) {
    case KIND.blocked: return 'blocked by the mask';
    case KIND.emptyRow: return 'blocked by the mask, no key is allowed';
    case KIND.absent: return `not held, not among the ${plane.layer.kept} strongest`;
    case KIND.nan: return 'not a number';
    default: return formatNumber(values[key]);
  }
}

/** "query cat → key cute: 0.42" */
function cellSentence(query, key) {
  const layer = currentLayer();
  return `query ${layer.queryAxis.shown(query)} → key ${layer.keyAxis.shown(key)}: ${cellText(currentPlane(), query, key)}`;
}
