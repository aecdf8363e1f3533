// All heads of the layer, small: look, then choose.

const THUMBNAIL = 64;  // CSS pixels a side at most

/** Pooled cells of one head, kept so that a change of colours need not read the weights again. */
class Thumbnail {
  constructor(layer, batch, head) {
    Object.assign(this, {layer, batch, head});
    this.button = make('button', 'thumbnail');
    this.button.type = 'button';
    this.canvas = make('canvas');
    this.canvas.setAttribute('aria-hidden', 'true');
    this.button.append(this.canvas, make('span', '', `head ${layer.headNumbers[head]}`));
    this.button.addEventListener('click', () => update({head: this.head, hover: null}));
    this.lines = null;
  }

  read() {
    if (this.lines) return;
    const pool = Math.ceil(Math.max(this.layer.queries, this.layer.keys, 1) / THUMBNAIL);
    const reader = new BlockReader(planeOf(this.layer, this.batch, this.head), pool, pool);
    this.columns = reader.columns;
    this.rows = reader.rows;
    this.lines = [];
    for (let row = 0; row < reader.rows; ++row) {
      const {values, kinds} = reader.line(row);
      this.lines.push({values: values.slice(), kinds: kinds.slice()});
    }
  }

  paint(scale) {
    this.read();
    if (this.columns === 0 || this.rows === 0) return;
    const size = Math.max(1, Math.floor(THUMBNAIL / Math.max(this.columns, this.rows)));
    const [width, height] = [this.columns * size, this.rows * size];
    this.canvas.width = width;
    this.canvas.height = height;
    const image = rasterize({line: (row) => this.lines[row]}, scale,
                            {cellWidth: size, cellHeight: size, offsetX: 0, offsetY: 0, width, height, unit: 1});
    this.canvas.getContext('2d').putImageData(image, 0, 0);
  }
}

class Thumbnails {
  constructor() {
    this.strip = byId('heads');
    this.placeId = '';
    this.scaleId = '';
    this.waiting = [];
    this.timer = 0;
  }

  draw() {
    const layer = currentLayer();
    this.strip.hidden = layer.headNumbers.length < 2;
    if (this.strip.hidden) return;
    const placeId = `${layer.number}|${state.batch}`;
    if (placeId !== this.placeId) {
      this.placeId = placeId;
      this.scaleId = '';
      this.items = layer.headNumbers.map((_, head) => new Thumbnail(layer, state.batch, head));
      this.strip.replaceChildren(...this.items.map((item) => item.button));
    }
    for (const item of this.items) item.button.setAttribute('aria-pressed', String(item.head === state.head));
    // With the range of one head each head would have its own: the strip keeps that of the page, so heads compare.
    const range = state.range === 'head' ? spanOf(facts, state.scale) : currentRange();
    const scale = new ColorScale(state.scale, range);
    const scaleId = `${scale.id}|${isDark()}`;
    if (scaleId === this.scaleId) return;
    this.scaleId = scaleId;
    this.scale = scale;
    this.waiting = this.items.slice();
    if (!this.timer) this.timer = setTimeout(() => this.paintNext(), 30);
  }

  /** One head at a time, so that the page answers in between. */
  paintNext() {
    this.timer = 0;
    const item = this.waiting.shift();
    if (!item) return;
    item.paint(this.scale);
    this.timer = setTimeout(() => this.paintNext(), 0);
  }
}
