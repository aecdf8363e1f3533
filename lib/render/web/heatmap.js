// The heatmap: painted for the part that is seen, so that neither canvas nor document grows with the matrix.

/** Colours of the theme for one painting. */
function themeInk() {
  return {ink: themeColor('ink'), muted: themeColor('muted'), accent: themeColor('accent'), page: themeColor('surface'),
          mark: themeColor('mark'), markInk: themeColor('mark-ink')};
}

/** Everything that does not follow the pointer. `scene`: {layer, plane, scale, ink}. */
function paintMap(context, place, offset, scene) {
  const {unit} = place;
  const reader = new BlockReader(scene.plane, place.poolRows, place.poolColumns);
  const image = rasterize(reader, scene.scale, {
    cellWidth: place.cellWidth, cellHeight: place.cellHeight, offsetX: offset.x, offsetY: offset.y,
    width: place.viewWidth, height: place.viewHeight, unit: Math.max(1, Math.round(unit)),
  });
  context.fillStyle = scene.ink.page;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  context.putImageData(image, place.left, place.top);
  paintNumbers(context, place, offset, scene);
  if (place.labels) paintLabels(context, place, offset, scene);
  paintAxisTitles(context, place, scene.ink);
}

/** A number in every cell where it takes at most 86 % of the width at 7 pixels or more. */
function paintNumbers(context, place, offset, {layer, plane, scale}) {
  const {annotate, digits} = description.options;
  const {unit} = place;
  if (annotate === 'never' || place.poolRows > 1 || place.poolColumns > 1 || place.cellWidth < 14 * unit) return;
  const {keys, queries} = visibleCells(place, {...offset, layer});
  context.font = labelFont(10 * unit);
  let widest = 1;
  forCells(queries, keys, plane, (query, key, value) => {
    widest = Math.max(widest, context.measureText(annotation(value, digits)).width);
  });
  const size = Math.min(14 * unit, Math.floor((0.86 * place.cellWidth * 10 * unit) / widest), place.cellHeight * 0.5);
  if (size < 7 * unit) return;
  context.save();
  context.beginPath();
  context.rect(place.left, place.top, place.viewWidth, place.viewHeight);
  context.clip();
  context.font = labelFont(size);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  forCells(queries, keys, plane, (query, key, value) => {
    const box = cellBox(place, offset, query, key);
    context.fillStyle = inkOn(palette.channels[scale.index(value)]);
    context.fillText(annotation(value, digits), box.x + box.width / 2, box.y + box.height / 2);
  });
  context.restore();
}

/** Digits as in the other pictures: a value halfway between two numbers goes to the even one. */
function toFixedEven(value, digits) {
  const exact = value.toFixed(digits + 1);
  const down = exact.slice(0, digits === 0 ? -2 : -1);
  const halfway = exact.endsWith('5') && Number.isInteger(value * 2 ** (digits + 1));
  return halfway && '02468'.includes(down.at(-1)) ? down : value.toFixed(digits);
}

/** One notation for all numbers up to `largest`; a minus is the character U+2212. */
function annotation(value, digits) {
  if (!Number.isFinite(value)) return '∞';
  const largest = Math.max(Math.abs(facts.min || 0), Math.abs(facts.max || 0));
  const plain = largest === 0 || (largest < 1e6 && largest >= 10 ** -digits);
  if (!plain && value === 0) return '0';
  const text = plain ? toFixedEven(value, digits) : value.toExponential(Math.max(0, digits - 1)).replace('e+', 'e');
  return (/[1-9]/.test(text) ? text : text.replace('-', '')).replace(/-/g, '−');
}

function forCells(queries, keys, plane, visit) {
  for (let query = queries.begin; query < queries.end; ++query) {
    const {values, kinds} = plane.row(query);
    for (let key = keys.begin; key < keys.end; ++key)
      if (kinds[key] === KIND.value) visit(query, key, values[key]);
  }
}

function paintLabels(context, place, offset, {layer, ink}) {
  const {keys, queries} = visibleCells(place, {...offset, layer});
  const first = (range) => Math.ceil(range.begin / place.step) * place.step;
  for (let query = first(queries); query < queries.end; query += place.step) paintQueryLabel(context, place, offset, query, {layer, color: ink.ink});
  for (let key = first(keys); key < keys.end; key += place.step) paintKeyLabel(context, place, offset, key, {layer, color: ink.ink});
}

/** With `back`, on a patch of its own that covers the labels around it. */
function paintQueryLabel(context, place, offset, query, {layer, color, back, weight}) {
  const {unit} = place;
  const box = cellBox(place, offset, query, 0);
  const y = box.y + box.height / 2;
  if (y < place.top || y > place.top + place.viewHeight) return;
  context.font = labelFont(FONT_SIZE * unit, weight);
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const text = cutLabel(context, layer.queryAxis.shown(query), place.queryRoom + 2 * unit);
  const x = place.left - 6 * unit;
  if (back) paintPatch(context, x - context.measureText(text).width, y, {text, unit, back});
  context.fillStyle = color;
  context.fillText(text, x, y);
}

function paintKeyLabel(context, place, offset, key, {layer, color, back, weight}) {
  const {unit, turn} = place;
  const box = cellBox(place, offset, 0, key);
  const x = box.x + box.width / 2;
  if (x < place.left || x > place.left + place.viewWidth) return;
  context.save();
  context.font = labelFont(FONT_SIZE * unit, weight);
  const text = cutLabel(context, layer.keyAxis.shown(key), (turn ? place.keyRoom : place.cellWidth) + 2 * unit);
  context.translate(x, place.top + place.viewHeight + (turn ? 6 : 4 + LINE_HEIGHT / 2) * unit);
  context.rotate((-turn * Math.PI) / 180);
  context.textAlign = turn ? 'right' : 'center';
  context.textBaseline = 'middle';
  if (back) paintPatch(context, (turn ? -1 : -0.5) * context.measureText(text).width, 0, {text, unit, back});
  context.fillStyle = color;
  context.fillText(text, 0, 0);
  context.restore();
}

function paintPatch(context, x, y, {text, unit, back}) {
  context.fillStyle = back;
  context.fillRect(x - 4 * unit, y - 9 * unit, context.measureText(text).width + 8 * unit, 18 * unit);
}

function paintAxisTitles(context, place, ink) {
  const {unit} = place;
  context.font = labelFont(FONT_SIZE * unit, '600');
  context.fillStyle = ink.muted;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText('Key', place.left + place.viewWidth / 2, place.top + place.viewHeight + place.bottom - 9 * unit);
  context.save();
  context.translate(9 * unit, Math.max(place.top + place.viewHeight / 2, 24 * unit));  // inside the canvas, however thin the map
  context.rotate(-Math.PI / 2);
  context.fillText('Query', 0, 0);
  context.restore();
}

/** CSS pixels across: the panel stands beside the picture, or below it in a narrow window. */
function roomForPicture() {
  const stage = byId('panel').parentElement;
  const style = getComputedStyle(stage);
  const beside = style.gridTemplateColumns.split(' ').length > 1 ? byId('panel').offsetWidth + parseFloat(style.columnGap) : 0;
  const frame = getComputedStyle(byId('view').parentElement);
  return stage.clientWidth - beside - parseFloat(frame.paddingLeft) - parseFloat(frame.paddingRight) - 2;
}

/** Where a pixel stands for many cells: the one whose colour it shows. */
function strongestOfBlock({poolRows, poolColumns}, firstQuery, firstKey) {
  let best = {query: firstQuery, key: firstKey, strength: -1};
  if (poolRows === 1 && poolColumns === 1) return best;
  const plane = currentPlane();
  const {layer} = plane;
  const scale = currentScale();
  for (let query = firstQuery; query < Math.min(firstQuery + poolRows, layer.queries); ++query) {
    const {values, kinds} = plane.row(query);
    for (let key = firstKey; key < Math.min(firstKey + poolColumns, layer.keys); ++key) {
      const strength = kinds[key] === KIND.value ? scale.strength(values[key]) : -1;
      if (strength > best.strength) best = {query, key, strength};
    }
  }
  return best;
}

/** Whether the keyboard's cell is marked: not while the pointer is at work. */
const cursorShown = () => state.keyboard && document.activeElement === byId('view');

/** The canvas on the page: scrolls, follows the pointer, keeps what does not change. */
class Heatmap {
  constructor() {
    this.scroller = byId('heatmap');
    this.extent = byId('map-extent');
    this.canvas = byId('map');
    this.context = this.canvas.getContext('2d');
    this.base = document.createElement('canvas');
    this.baseId = '';
    this.scroller.addEventListener('scroll', () => update({}));
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => update({hover: null}));
    this.canvas.addEventListener('click', (event) => this.pin(event));
  }

  room() {
    const unit = window.devicePixelRatio || 1;
    const {queries} = currentLayer();
    const above = this.scroller.getBoundingClientRect().top + window.scrollY;
    // A large map may be taller than the window: cells of less than a pixel are worse than scrolling.
    const height = Math.max(360, window.innerHeight - above - 90, queries > 96 ? 680 : 0);
    return {unit, width: Math.floor(roomForPicture() * unit), height: Math.floor(height * unit)};
  }

  draw() {
    const layer = currentLayer();
    const plane = currentPlane();
    const room = this.room();
    const place = layOutHeatmap(this.context, layer, room, state.zoom);
    this.place = place;
    this.resize(room);
    this.offset = {
      x: clamp(Math.round(this.scroller.scrollLeft * place.unit), 0, place.mapWidth - place.viewWidth),
      y: clamp(Math.round(this.scroller.scrollTop * place.unit), 0, place.mapHeight - place.viewHeight),
      layer,
    };
    const scene = {layer, plane, scale: currentScale(), ink: themeInk()};
    const id = [plane.id, scene.scale.id, scene.ink.ink, JSON.stringify(place), this.offset.x, this.offset.y].join('|');
    if (id !== this.baseId) {
      this.base.width = this.canvas.width;
      this.base.height = this.canvas.height;
      paintMap(this.base.getContext('2d'), place, this.offset, scene);
      this.baseId = id;
    }
    this.context.drawImage(this.base, 0, 0);
    this.paintMarks(scene);
    this.describe();
  }

  resize({unit}) {
    const {place} = this;
    const width = place.left + place.viewWidth + place.right;
    const height = place.top + place.viewHeight + place.bottom;
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.canvas.style.width = `${width / unit}px`;
    this.canvas.style.height = `${height / unit}px`;
    this.extent.style.width = `${place.fullWidth / unit}px`;
    this.extent.style.height = `${place.fullHeight / unit}px`;
    const bars = {x: place.viewHeight < place.mapHeight ? SCROLL_BAR : 0, y: place.viewWidth < place.mapWidth ? SCROLL_BAR : 0};
    this.scroller.style.width = `${width / unit + bars.x}px`;
    this.scroller.style.height = `${height / unit + bars.y}px`;
  }

  /** Rows and cells that stand out: pinned, under the pointer, under the keyboard, found by the search. */
  paintMarks({layer, ink}) {
    const {context, place, offset} = this;
    context.save();
    context.beginPath();
    context.rect(place.left - 3 * place.unit, place.top - 3 * place.unit, place.viewWidth + 6 * place.unit, place.viewHeight + 6 * place.unit);
    context.clip();
    if (state.pinned >= 0) this.outlineRow(state.pinned);
    if (state.hover && state.hover.key >= 0) this.outlineCell(state.hover.query, state.hover.key);
    if (cursorShown()) this.outlineCell(state.query, state.key);
    context.restore();
    if (!place.labels) return;
    const found = {layer, color: ink.markInk, back: ink.mark};
    for (const query of visibleMatches('query', place, offset)) paintQueryLabel(context, place, offset, query, found);
    for (const key of visibleMatches('key', place, offset)) paintKeyLabel(context, place, offset, key, found);
    const strong = {layer, color: ink.page, back: ink.ink, weight: '600'};
    if (state.pinned >= 0) paintQueryLabel(context, place, offset, state.pinned, {...strong, back: ink.accent});
    const cell = state.hover && state.hover.key >= 0 ? state.hover : cursorShown() ? state : null;
    if (!cell || layer.queries === 0 || layer.keys === 0) return;
    paintQueryLabel(context, place, offset, cell.query, strong);
    paintKeyLabel(context, place, offset, cell.key, strong);
  }

  outlineRow(query) {
    const {place, offset} = this;
    const box = cellBox(place, offset, query, 0);
    this.outline({...box, x: place.left, width: place.viewWidth});
  }

  outlineCell(query, key) {
    this.outline(cellBox(this.place, this.offset, query, key));
  }

  /** Two lines, a light and a dark one: seen on every colour. */
  outline({x, y, width, height}) {
    const {context, place: {unit}} = this;
    context.lineWidth = 3 * unit;
    context.strokeStyle = '#000';
    context.strokeRect(x - unit, y - unit, width + 2 * unit, height + 2 * unit);
    context.lineWidth = 1.5 * unit;
    context.strokeStyle = '#fff';
    context.strokeRect(x - unit, y - unit, width + 2 * unit, height + 2 * unit);
  }

  /** Where the map stands on the canvas, in CSS pixels: for whoever looks at the page from outside. */
  describe() {
    const {place, offset} = this;
    const css = (pixels) => String(pixels / place.unit);
    Object.assign(this.canvas.dataset, {left: css(place.left), top: css(place.top), cellWidth: css(place.cellWidth),
                                        cellHeight: css(place.cellHeight), offsetX: css(offset.x), offsetY: css(offset.y),
                                        poolRows: place.poolRows, poolColumns: place.poolColumns});
    const {poolRows, poolColumns} = place;
    const pooling = description.options.pool === 'mean' ? 'mean' : 'max';
    const notes = [];
    if (poolRows > 1 || poolColumns > 1) notes.push(`1 pixel = ${pooling} of ${poolRows}×${poolColumns} cells; zoom in for single cells.`);
    if (place.labels && place.step > 1) notes.push(`One label for every ${place.step} tokens.`);
    byId('map-note').textContent = notes.join(' ');
  }

  cellAt(event) {
    const {place, offset} = this;
    const layer = currentLayer();
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) * place.unit - place.left;
    const y = (event.clientY - box.top) * place.unit - place.top;
    const query = y < 0 || y >= place.viewHeight ? -1 : Math.floor((y + offset.y) / place.cellHeight) * place.poolRows;
    const key = x < 0 || x >= place.viewWidth ? -1 : Math.floor((x + offset.x) / place.cellWidth) * place.poolColumns;
    if (query < 0 || query >= layer.queries) return null;
    return key < 0 || key >= layer.keys ? {query, key: -1} : strongestOfBlock(place, query, key);
  }

  hover(event) {
    const cell = this.cellAt(event);
    const {hover} = state;
    if (cell && hover && cell.query === hover.query && cell.key === hover.key) return;
    update({hover: cell});
  }

  pin(event) {
    const cell = this.cellAt(event);
    if (!cell) return;
    update({query: cell.query, key: Math.max(cell.key, 0), keyboard: false, pinned: state.pinned === cell.query ? -1 : cell.query});
    speak();
  }

  /** Scrolls so far that the keyboard's cell is seen. */
  reveal() {
    const {place} = this;
    if (!place) return;
    const inside = (start, size, offset, view) => start < offset ? start : Math.max(offset, start + size - view);
    const x = Math.floor(state.key / place.poolColumns) * place.cellWidth;
    const y = Math.floor(state.query / place.poolRows) * place.cellHeight;
    this.scroller.scrollLeft = inside(x, place.cellWidth, this.offset.x, place.viewWidth) / place.unit;
    this.scroller.scrollTop = inside(y, place.cellHeight, this.offset.y, place.viewHeight) / place.unit;
  }
}
