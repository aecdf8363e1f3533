// Beside the picture: the cell in words, the keys of one query as a table, and what the colours mean.

const FIRST_KEYS = 12;  // listed at once

/** "query cat → key cute: 0.42" as nodes, the tokens isolated. */
function sentenceNodes(query, key) {
  const layer = currentLayer();
  return ['query ', isolate(layer.queryAxis.shown(query)), ' → key ', isolate(layer.keyAxis.shown(key)),
          `: ${cellText(currentPlane(), query, key)}`];
}

const isEmpty = (layer) => layer.queries === 0 || layer.keys === 0;

/** For screen readers: the keyboard's cell. */
function speak() {
  if (isEmpty(currentLayer())) return;
  byId('spoken').replaceChildren(...sentenceNodes(state.query, state.key));
}

function drawReadout() {
  const readout = byId('readout');
  if (isEmpty(currentLayer())) {
    readout.textContent = 'There is nothing to show: an axis has no entries.';
    return;
  }
  const {hover} = state;
  if (hover && hover.query >= 0 && hover.key >= 0) readout.replaceChildren(...sentenceNodes(hover.query, hover.key));
  else if (hover && hover.query >= 0) readout.replaceChildren(...sentenceNodes(hover.query, state.key));
  else if (hover) readout.replaceChildren(...sentenceNodes(state.query, hover.key));
  else readout.replaceChildren(...sentenceNodes(state.query, state.key));
}

/** The query of the table: pinned, else under the pointer, else under the keyboard. */
function panelQuery() {
  const focused = focusedQuery();
  return focused >= 0 ? focused : state.query;
}

/** Keys of a query, strongest first; those without a value are only counted. */
function rankedKeys(plane, query) {
  const {values, kinds} = plane.row(query);
  const keys = [];
  const counts = [0, 0, 0, 0, 0];
  for (let key = 0; key < values.length; ++key) {
    ++counts[kinds[key]];
    if (kinds[key] === KIND.value) keys.push(key);
  }
  const middle = center === null ? 0 : center;
  const strength = (key) => isSigned ? Math.abs(values[key] - middle) : values[key];
  keys.sort((a, b) => strength(b) - strength(a) || a - b);
  return {keys, counts, values};
}

/** "sum 1 · entropy 1.5 bits · 3 keys blocked" */
function rowSummary({keys, counts, values}) {
  const parts = [];
  if (areWeights && keys.length > 0 && counts[KIND.absent] === 0) {
    let sum = 0;
    let entropy = 0;
    for (const key of keys) {
      sum += values[key];
      if (values[key] > 0) entropy -= values[key] * Math.log2(values[key]);
    }
    parts.push(`sum ${formatNumber(sum, 6)}`);
    if (Math.abs(sum - 1) < 0.01) parts.push(`entropy ${formatNumber(entropy, 3)} bits`);
  }
  const count = (number, text) => {
    if (number > 0) parts.push(`${formatCount(number)} ${number === 1 ? 'key' : 'keys'} ${text}`);
  };
  count(counts[KIND.blocked], 'blocked');
  count(counts[KIND.nan], 'not a number');
  count(counts[KIND.absent], 'not held');
  if (counts[KIND.emptyRow] > 0) parts.push('no key is allowed');
  return parts.join(' · ');
}

function keyRow(layer, scale, key, value) {
  const row = make('tr');
  const name = make('th');
  name.scope = 'row';
  name.append(isolate(layer.keyAxis.shown(key)));
  const bar = make('span', 'bar');
  bar.style.width = `${100 * scale.strength(value)}%`;
  const [red, green, blue] = palette.channels[scale.index(value)];
  bar.style.backgroundColor = `rgb(${red},${green},${blue})`;
  const barCell = make('td', 'bar-cell');
  barCell.append(bar);
  row.append(name, make('td', 'index', String(key)), barCell, make('td', 'value', formatNumber(value)));
  return row;
}

function drawPanel() {
  const layer = currentLayer();
  byId('panel').hidden = isEmpty(layer);
  if (isEmpty(layer)) return;
  const query = panelQuery();
  const plane = currentPlane();
  const ranked = rankedKeys(plane, query);
  byId('panel-title').replaceChildren(`Query ${query}: `, isolate(layer.queryAxis.shown(query)));
  byId('panel-summary').textContent = rowSummary(ranked);
  byId('panel-value').textContent = {weights: 'Weight', scores: 'Score', difference: 'Difference'}[layer.kind] || (areWeights ? 'Weight' : 'Value');
  const scale = currentScale();
  const shown = state.allKeys ? ranked.keys : ranked.keys.slice(0, FIRST_KEYS);
  byId('panel-rows').replaceChildren(...shown.map((key) => keyRow(layer, scale, key, ranked.values[key])));
  const more = byId('more-keys');
  more.hidden = ranked.keys.length <= FIRST_KEYS;
  more.textContent = state.allKeys ? `Only the first ${FIRST_KEYS}` : `All ${formatCount(ranked.keys.length)} keys`;
  const pin = byId('pin');
  pin.textContent = state.pinned >= 0 ? 'Unpin' : 'Pin';
  pin.setAttribute('aria-pressed', String(state.pinned >= 0));
}

/** The colour bar, its numbers, and the looks that occur on this page. */
function drawLegend() {
  const scale = currentScale();
  const canvas = byId('color-bar');
  const context = canvas.getContext('2d');
  const image = new ImageData(256, 1);
  new Uint32Array(image.data.buffer).set(palette.pixels);
  context.putImageData(image, 0, 0);
  byId('color-ticks').replaceChildren(...scale.ticks(6).map(({place, text}) => {
    const tick = make('span', '', text);
    tick.style.left = `${100 * place}%`;
    return tick;
  }));
  const [low, high] = [formatNumber(scale.low, 3), formatNumber(scale.high, 3)];
  canvas.setAttribute('aria-label', `Colours of ${facts.colormap} from ${low} to ${high}, ${state.scale} scale`);
  const outside = facts.min !== null && (facts.min < scale.low || facts.max > scale.high);
  byId('clamped').textContent = outside ? 'Values outside the range take the colour of its end.' : '';
}

/** Which cells without a value there are, and how each looks. */
function drawLooks() {
  const present = [
    [KIND.blocked, facts.blocked > 0, 'blocked'], [KIND.emptyRow, facts.empty > 0, 'no key allowed'],
    [KIND.nan, facts.nan > 0, 'not a number'], [KIND.absent, description.packing === 'strongest', 'not held'],
  ];
  byId('looks').replaceChildren(...present.filter(([, occurs]) => occurs).map(([kind, , text]) => {
    const item = make('li');
    item.append(swatchOf(kind), text);
    return item;
  }));
}

function swatchOf(kind) {
  const unit = Math.max(1, Math.round(window.devicePixelRatio || 1));
  const swatch = make('canvas', 'swatch');
  swatch.width = swatch.height = 18 * unit;
  const image = new ImageData(swatch.width, swatch.height);
  const pixels = new Uint32Array(image.data.buffer);
  const special = new Uint8Array(swatch.width).fill(kind);
  for (let y = 0; y < swatch.height; ++y) patternLine(pixels, special, currentLooks(), {y, width: swatch.width, unit, shiftX: 0, shiftY: 0});
  swatch.getContext('2d').putImageData(image, 0, 0);
  return swatch;
}
