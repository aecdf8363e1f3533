// The shown head as a file: made in the page, nothing is sent.

/** Offers a file to the reader's download folder. */
function offer(blob, name) {
  const link = make('a');
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** "attention-weights-layer2-head3.csv": letters, digits, dots and dashes only. */
function exportName(extension) {
  const words = [document.title, placeText('-')].join('-').replace(/[^\p{L}\p{N}.]+/gu, '-').replace(/^[-.]+|-+$/g, '');
  return `${words.slice(0, 80) || 'attention'}.${extension}`;
}

/** The fewest digits that read back as the same float32. */
function shortestNumber(value) {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  for (let digits = 1; digits < 9; ++digits) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(Number(value.toPrecision(9)));
}

function csvField(text) {
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** What a cell holds; nothing where the page does not hold it. */
function csvNumber(value, kind) {
  if (kind === KIND.absent) return '';
  const blocked = kind === KIND.blocked || kind === KIND.emptyRow;
  if (blocked && Number.isNaN(value) && description.packing === 'uint8') return '';
  return shortestNumber(value);
}

/** The form that compute writes: a head line of keys, then a line for each query. */
function headAsCsv() {
  const layer = currentLayer();
  const plane = currentPlane();
  const head = ['query'];
  for (let key = 0; key < layer.keys; ++key) head.push(csvField(layer.keyAxis.token(key)));
  const parts = [head.join(','), '\n'];
  for (let query = 0; query < layer.queries; ++query) {
    const {values, kinds} = plane.row(query);
    const line = [csvField(layer.queryAxis.token(query))];
    for (let key = 0; key < layer.keys; ++key) line.push(csvNumber(values[key], kinds[key]));
    parts.push(line.join(','), '\n');
  }
  return new Blob(parts, {type: 'text/csv'});
}

/** The whole head on a canvas of its own: single cells where 8192 pixels a side allow it. */
function headAsCanvas() {
  const LARGEST = 8192;
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  const layer = currentLayer();
  const [title, bar] = [34, 44];
  const unit = window.devicePixelRatio || 1;
  const zoomed = state.zoom || 0;
  const room = {width: LARGEST, height: LARGEST - Math.ceil((title + bar) * unit), unit};
  let place = layOutHeatmap(context, layer, room, zoomed);
  if (zoomed && (place.viewWidth < place.mapWidth || place.viewHeight < place.mapHeight)) place = layOutHeatmap(context, layer, room, 0);
  const ink = themeInk();
  const map = document.createElement('canvas');
  map.width = place.fullWidth;
  map.height = place.fullHeight;
  const scene = {layer, plane: currentPlane(), scale: currentScale(), ink};
  paintMap(map.getContext('2d'), place, {x: 0, y: 0, layer}, scene);
  canvas.width = Math.max(map.width, Math.ceil(300 * unit));
  canvas.height = map.height + Math.ceil((title + bar) * unit);
  context.fillStyle = ink.page;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(map, 0, title * unit);
  paintCaption(context, {unit, ink, left: place.left, top: 0});
  paintColorBar(context, {unit, ink, left: place.left, top: title * unit + map.height, width: Math.max(place.mapWidth, 200 * unit)}, scene.scale);
  return canvas;
}

function paintCaption(context, {unit, ink, left, top}) {
  context.font = labelFont(14 * unit, '600');
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillStyle = ink.ink;
  const place = placeText();
  const text = place ? `${document.title} · ${place}` : document.title;
  context.fillText(cutLabel(context, text, context.canvas.width - left - 8 * unit), left, top + 18 * unit);
}

function paintColorBar(context, {unit, ink, left, top, width}, scale) {
  const bar = Math.min(width, context.canvas.width - left - 20 * unit);
  for (let x = 0; x < bar; ++x) {
    const [red, green, blue] = palette.channels[Math.min(255, Math.floor((256 * x) / bar))];
    context.fillStyle = `rgb(${red},${green},${blue})`;
    context.fillRect(left + x, top + 4 * unit, 1, 10 * unit);
  }
  context.font = labelFont(11 * unit);
  context.fillStyle = ink.ink;
  for (const {place, text} of scale.ticks(5)) {
    context.textAlign = place < 0.05 ? 'left' : place > 0.95 ? 'right' : 'center';
    context.fillText(text, left + place * bar, top + 26 * unit);
  }
}

/** The line view on a canvas. */
function linesAsCanvas() {
  const layer = currentLayer();
  const unit = window.devicePixelRatio || 1;
  const height = rowHeight(layer) * unit;
  const title = 34 * unit;
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  const total = Math.min(height * Math.max(layer.queries, layer.keys), 16000);
  const [column, middle] = [150 * unit, 320 * unit];
  canvas.width = 2 * column + middle;
  canvas.height = title + total + 10 * unit;
  const ink = themeInk();
  context.fillStyle = ink.page;
  context.fillRect(0, 0, canvas.width, canvas.height);
  paintCaption(context, {unit, ink, left: 12 * unit, top: 0});
  const y = (index) => title + (index + 0.5) * height;
  const opacity = new LineOpacity(currentScale());
  context.lineWidth = 2 * unit;
  const focus = lineView.focus();
  const faintest = focus.query < 0 && focus.key < 0 ? FAINTEST : FAINTEST_FOCUSED;
  for (const line of strongestLines(eachValue(currentPlane(), focus.query, focus.key), opacity, faintest).lines) {
    context.globalAlpha = line.opacity;
    context.strokeStyle = themeColor(line.value < 0 ? 'negative' : 'line');
    context.beginPath();
    context.moveTo(column, y(line.query));
    context.lineTo(column + middle, y(line.key));
    context.stroke();
  }
  context.globalAlpha = 1;
  paintLineTokens(context, layer.queryAxis, {x: column - 8 * unit, align: 'right', y, ink, unit, column});
  paintLineTokens(context, layer.keyAxis, {x: column + middle + 8 * unit, align: 'left', y, ink, unit, column});
  return canvas;
}

function paintLineTokens(context, axis, {x, align, y, ink, unit, column}) {
  context.font = labelFont(FONT_SIZE * unit);
  context.textAlign = align;
  context.textBaseline = 'middle';
  context.fillStyle = ink.ink;
  for (let i = 0; i < axis.count && y(i) < context.canvas.height; ++i)
    context.fillText(cutLabel(context, axis.shown(i), column - 20 * unit), x, y(i));
}

function exportPicture() {
  const canvas = state.view === 'lines' ? linesAsCanvas() : headAsCanvas();
  canvas.toBlob((blob) => offer(blob, exportName('png')), 'image/png');
}

function exportCsv() {
  offer(headAsCsv(), exportName('csv'));
}
