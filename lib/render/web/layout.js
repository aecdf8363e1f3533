// Where everything of the heatmap stands, in device pixels.

const FONT_SIZE = 12;
const LINE_HEIGHT = 16;
const AXIS_TITLE = 20;     // room of "Query" and "Key"
const SCROLL_BAR = 16;     // room for one, CSS pixels
const ZOOM_STEPS = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96];

/** Room for labels beside and below the map. */
function measureGutters(context, layer, width, unit) {
  if (description.options.label_step === 0) return {left: AXIS_TITLE * unit, query: 0, key: 0, labels: false};
  context.font = labelFont(FONT_SIZE * unit);
  const query = widestLabel(context, layer.queryAxis, Math.min(160 * unit, width * 0.3));
  const key = widestLabel(context, layer.keyAxis, 130 * unit);
  return {left: AXIS_TITLE * unit + query + 8 * unit, query, key, labels: true};
}

/** The turn of the key labels and the room below the map that they take. */
function turnKeyLabels(gutters, cellWidth, unit) {
  if (!gutters.labels) return {turn: 0, bottom: AXIS_TITLE * unit};
  const title = AXIS_TITLE * unit + 8 * unit;
  const apart = gutters.key <= 1.1 * FONT_SIZE * unit ? 2 : 8;  // single characters stand closer than words
  if (gutters.key + apart * unit <= cellWidth) return {turn: 0, bottom: LINE_HEIGHT * unit + title};
  if (cellWidth >= LINE_HEIGHT * 1.3 * unit) return {turn: 45, bottom: (gutters.key + LINE_HEIGHT * unit) * 0.72 + title};
  return {turn: 90, bottom: gutters.key + title};
}

/** Pixels a cell and cells a pixel, for one axis. */
function fitCells(room, count, largest) {
  if (count === 0) return {size: Math.floor(largest), pool: 1};
  const size = Math.floor(room / count);
  if (size >= 1) return {size: Math.min(size, Math.floor(largest)), pool: 1};
  return {size: 1, pool: Math.ceil(count / Math.max(room, 1))};
}

/** As large as fits; square, unless one side would be a sliver. */
function fitMap(layer, roomX, roomY, unit) {
  const largest = clamp(448 / Math.max(layer.queries, layer.keys, 1), 44, 96) * unit;  // few tokens do not fill the window
  const across = fitCells(roomX, layer.keys, largest);
  const down = fitCells(roomY, layer.queries, largest);
  const size = Math.min(across.size, down.size);
  const pool = Math.max(across.pool, down.pool);
  const least = 48 * unit;
  const widen = (axis, count) => {
    const own = pool > 1 ? Math.min(pool, Math.max(1, Math.ceil(count / 64))) : 1;
    if (Math.ceil(count / pool) * size >= least) return {size, pool};
    return {size: Math.max(size, Math.min(axis.size, 24 * unit, Math.floor(least / Math.ceil(count / own)))), pool: own};
  };
  return {across: widen(across, layer.keys), down: widen(down, layer.queries)};
}

/**
 * room: {width, height, unit}; zoom: CSS pixels a cell, 0 for as large as fits.
 * left, top, right, bottom: gutters; full: size of everything; view: the part of the map that is seen at once.
 */
function layOutHeatmap(context, layer, {width, height, unit}, zoom) {
  const gutters = measureGutters(context, layer, width, unit);
  const [top, right] = [6 * unit, 14 * unit];
  if (zoom) [width, height] = [width - SCROLL_BAR * unit, height - SCROLL_BAR * unit];
  const roomX = width - gutters.left - right;
  let cells = {across: {size: zoom * unit, pool: 1}, down: {size: zoom * unit, pool: 1}};
  let below = turnKeyLabels(gutters, zoom * unit, unit);
  for (let pass = 0; !zoom && pass < 2; ++pass) {  // the room below depends on the cells, and the cells on it
    if (pass === 0) below = turnKeyLabels(gutters, roomX / Math.max(layer.keys, 1), unit);
    cells = fitMap(layer, roomX, height - top - below.bottom, unit);
    below = turnKeyLabels(gutters, cells.across.size / cells.across.pool, unit);
  }
  const mapWidth = Math.ceil(layer.keys / cells.across.pool) * cells.across.size;
  const mapHeight = Math.ceil(layer.queries / cells.down.pool) * cells.down.size;
  const line = LINE_HEIGHT * unit;
  const step = description.options.label_step || Math.max(labelStep(line, cells.across.size / cells.across.pool), labelStep(line, cells.down.size / cells.down.pool));
  const leanLeft = below.turn === 45 ? Math.max(0, gutters.key * 0.72 - cells.across.size / 2) : 0;
  const left = Math.round(Math.max(gutters.left, leanLeft + 4 * unit));
  const bottom = Math.round(below.bottom);
  return {
    unit, top: Math.round(top), right, left, bottom, step, turn: below.turn, labels: gutters.labels,
    queryRoom: gutters.query, keyRoom: gutters.key,
    cellWidth: cells.across.size, cellHeight: cells.down.size, poolColumns: cells.across.pool, poolRows: cells.down.pool,
    mapWidth, mapHeight,
    fullWidth: left + mapWidth + right, fullHeight: Math.round(top) + mapHeight + bottom,
    viewWidth: Math.max(1, Math.min(mapWidth, Math.floor(width - left - right))),
    viewHeight: Math.max(1, Math.min(mapHeight, Math.floor(height - top - bottom))),
  };
}

/** First and one past the last cell of an axis that is seen, and where a cell begins: for keys, then for queries. */
function visibleCells(place, offset) {
  const range = (start, size, cell, pool, count) => ({
    begin: Math.floor(start / cell) * pool,
    end: Math.min(count, Math.ceil((start + size) / cell) * pool),
  });
  const {layer} = offset;
  return {
    keys: range(offset.x, place.viewWidth, place.cellWidth, place.poolColumns, layer.keys),
    queries: range(offset.y, place.viewHeight, place.cellHeight, place.poolRows, layer.queries),
  };
}

/** The rectangle of a cell on the canvas. */
function cellBox(place, offset, query, key) {
  return {
    x: place.left + Math.floor(key / place.poolColumns) * place.cellWidth - offset.x,
    y: place.top + Math.floor(query / place.poolRows) * place.cellHeight - offset.y,
    width: place.cellWidth,
    height: place.cellHeight,
  };
}
