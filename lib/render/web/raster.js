// Cells to pixels: nearest colour, whole pixels, and the strongest of a block where a cell is less than a pixel.

/** Gathers blocks of `pool` × `pool` cells; a line of them holds values and kinds. */
class BlockReader {
  constructor(plane, poolRows, poolColumns) {
    this.plane = plane;
    this.poolRows = poolRows;
    this.poolColumns = poolColumns;
    this.columns = Math.ceil(plane.layer.keys / poolColumns);
    this.rows = Math.ceil(plane.layer.queries / poolRows);
    this.values = new Float32Array(this.columns);
    this.kinds = new Uint8Array(this.columns);
    this.counts = new Uint32Array(this.columns);
    this.middle = center === null ? 0 : center;
    this.mean = description.options.pool === 'mean';
  }

  line(row) {
    if (this.poolRows === 1 && this.poolColumns === 1) {
      const {values, kinds} = this.plane.row(row);
      return {values, kinds};
    }
    this.kinds.fill(KIND.emptyRow);
    this.counts.fill(0);
    const end = Math.min((row + 1) * this.poolRows, this.plane.layer.queries);
    for (let query = row * this.poolRows; query < end; ++query) this.gather(this.plane.row(query));
    return {values: this.values, kinds: this.kinds};
  }

  gather({values, kinds}) {
    for (let block = 0, key = 0; block < this.columns; ++block) {
      const end = Math.min(key + this.poolColumns, values.length);
      for (; key < end; ++key) this.take(block, values[key], kinds[key]);
    }
  }

  /** NaN is never hidden by its neighbours, a value never by cells without one. */
  take(block, value, kind) {
    const held = this.kinds[block];
    if (kind === KIND.nan || held === KIND.nan) {
      this.kinds[block] = KIND.nan;
    } else if (kind !== KIND.value) {
      if (held === KIND.emptyRow || (held === KIND.blocked && kind === KIND.absent)) this.kinds[block] = kind;
    } else if (held !== KIND.value) {
      this.kinds[block] = KIND.value;
      this.values[block] = value;
      this.counts[block] = 1;
    } else if (this.mean) {
      this.values[block] += (value - this.values[block]) / ++this.counts[block];
    } else if (isSigned ? Math.abs(value - this.middle) > Math.abs(this.values[block] - this.middle) : value > this.values[block]) {
      this.values[block] = value;
    }
  }
}

/**
 * The pixels of a part of the map as ImageData.
 * cellWidth, cellHeight: pixels of one block; offsetX, offsetY: pixels of the whole map that lie left of and above it.
 */
function rasterize(reader, scale, {cellWidth, cellHeight, offsetX, offsetY, width, height, unit}) {
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const line = new Uint32Array(width);
  const special = new Uint8Array(width);
  const looks = currentLooks();
  let drawn = -1;
  let anySpecial = false;
  for (let y = 0; y < height; ++y) {
    const row = Math.floor((y + offsetY) / cellHeight);
    if (row !== drawn) {
      anySpecial = colorLine(reader.line(row), scale, {cellWidth, offsetX, line, special});
      drawn = row;
    }
    pixels.set(line, y * width);
    if (anySpecial) patternLine(pixels, special, looks, {y, width, unit, shiftX: offsetX, shiftY: offsetY});
  }
  return image;
}

/** Colours one line; cells without a value are told in `special`. */
function colorLine({values, kinds}, scale, {cellWidth, offsetX, line, special}) {
  let anySpecial = false;
  let column = Math.floor(offsetX / cellWidth);
  for (let x = 0; x < line.length; ++column) {
    const end = Math.min((column + 1) * cellWidth - offsetX, line.length);
    const kind = kinds[column];
    const color = kind === KIND.value ? palette.pixels[scale.index(values[column])] : 0;
    if (kind !== KIND.value) anySpecial = true;
    for (; x < end; ++x) {
      line[x] = color;
      special[x] = kind;
    }
  }
  return anySpecial;
}

function patternLine(pixels, special, looks, {y, width, unit, shiftX, shiftY}) {
  for (let x = 0; x < width; ++x) {
    const look = looks[special[x]];
    if (look) pixels[y * width + x] = look.isLine(x + shiftX, y + shiftY, unit) ? look.line : look.ground;
  }
}
