// What the page holds: layers, tokens, and the packed numbers of every plane (one head of one batch).

const description = readJson('description');
const facts = readJson('facts');

/** Whether all numbers lie between 0 and 1, as those of a softmax do (a rounding above 1 is none of its faults). */
const areWeights = facts.min !== null && facts.min >= 0 && facts.max <= 1 + 1e-5;

/** What a cell is, besides its value. */
const KIND = {value: 0, blocked: 1, absent: 2, nan: 3, emptyRow: 4};
const NO_KEY = 0xffffffff;
const CODE = {lastStep: 251, zero: 252, minusInfinity: 253, infinity: 254, nan: 255};

/** The tokens of one axis, or its indices where there are none. */
class Axis {
  constructor(count, list) {
    const held = list === null ? null : description.tokens[list];
    this.count = count;
    this.tokens = held && held.tokens;
    this.shownTokens = held && (held.shown || held.tokens);
  }
  /** As given, for the CSV. */
  token(index) {
    return this.tokens && index < this.tokens.length ? this.tokens[index] : String(index);
  }
  /** With blanks and control characters made visible. */
  shown(index) {
    return this.shownTokens && index < this.shownTokens.length ? this.shownTokens[index] : String(index);
  }
}

const layers = description.layers.map((layer, number) => ({
  ...layer,
  number,
  batchCount: layer.batches === null ? 1 : layer.batches,
  headNumbers: layer.heads === null ? [0] : layer.heads,
  queryAxis: new Axis(layer.queries, layer.query_tokens),
  keyAxis: new Axis(layer.keys, layer.key_tokens),
}));

function decodeBase64(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** The weights of one head: rows are unpacked one at a time, into `values` and `kinds`. */
class Plane {
  constructor(layer, number) {
    this.layer = layer;
    this.id = `${layer.number}-${number}`;
    const block = byId(`plane-${this.id}`);
    this.bytes = decodeBase64(block ? block.textContent : '');
    this.view = new DataView(this.bytes.buffer);
    this.values = new Float32Array(layer.keys);
    this.kinds = new Uint8Array(layer.keys);
    this.current = -1;
  }

  /** Unpacks row `query`; `values` and `kinds` stay valid until the next call. */
  row(query) {
    if (this.current === query) return this;
    this.current = query;
    const start = query * this.layer.row_bytes;
    if (description.packing === 'float32') this.readFloats(start);
    else if (description.packing === 'uint8') this.readCodes(start);
    else this.readStrongest(start);
    this.markSpecial();
    return this;
  }

  readFloats(start) {
    const {keys, masked} = this.layer;
    this.values.set(new Float32Array(this.bytes.buffer, start, keys));
    this.readMask(masked ? start + 4 * keys : -1);
  }

  readCodes(start) {
    const {keys, masked} = this.layer;
    const low = this.view.getFloat32(start, true);
    const step = this.view.getFloat32(start + 4, true);
    const table = new Float32Array(256);
    for (let code = 0; code <= CODE.lastStep; ++code) table[code] = low + code * step;
    table[CODE.zero] = 0;
    table[CODE.minusInfinity] = -Infinity;
    table[CODE.infinity] = Infinity;
    table[CODE.nan] = NaN;
    for (let key = 0; key < keys; ++key) this.values[key] = table[this.bytes[start + 8 + key]];
    this.readMask(masked ? start + 8 + keys : -1);
  }

  readStrongest(start) {
    const {kept} = this.layer;
    const begin = this.view.getUint32(start, true);
    const end = this.view.getUint32(start + 4, true);
    this.values.fill(0);
    this.kinds.fill(KIND.blocked);
    this.kinds.fill(KIND.absent, begin, end);
    for (let i = 0; i < kept; ++i) {
      const key = this.view.getUint32(start + 8 + 4 * i, true);
      if (key === NO_KEY) break;
      this.values[key] = this.view.getFloat32(start + 8 + 4 * (kept + i), true);
      this.kinds[key] = KIND.value;
    }
  }

  readMask(start) {
    this.kinds.fill(KIND.value);
    if (start < 0) return;
    for (let key = 0; key < this.kinds.length; ++key)
      if (((this.bytes[start + (key >> 3)] >> (key & 7)) & 1) === 0) this.kinds[key] = KIND.blocked;
  }

  markSpecial() {
    let allBlocked = this.kinds.length > 0;
    for (let key = 0; key < this.kinds.length; ++key) {
      if (this.kinds[key] !== KIND.blocked) allBlocked = false;
      if (this.kinds[key] !== KIND.value) continue;
      if (Number.isNaN(this.values[key])) this.kinds[key] = KIND.nan;
      // Minus infinity is the score of a blocked cell.
      if (this.values[key] === -Infinity) this.kinds[key] = KIND.blocked;
    }
    if (allBlocked) this.kinds.fill(KIND.emptyRow);
  }

  /** Smallest and largest finite value shown, and the smallest above zero. */
  range() {
    if (this.knownRange) return this.knownRange;
    const range = {min: Infinity, max: -Infinity, least: Infinity};
    for (let query = 0; query < this.layer.queries; ++query) {
      const {values, kinds} = this.row(query);
      for (let key = 0; key < values.length; ++key) {
        const value = values[key];
        if (kinds[key] !== KIND.value || !Number.isFinite(value)) continue;
        if (value < range.min) range.min = value;
        if (value > range.max) range.max = value;
        if (value > 0 && value < range.least) range.least = value;
      }
    }
    this.knownRange = range;
    return range;
  }
}

const planes = new Map();
/** Bytes of unpacked planes to keep: going back to a head is immediate. */
const KEPT_BYTES = 64e6;

function planeOf(layer, batch, head) {
  const number = batch * layer.headNumbers.length + head;
  const id = `${layer.number}-${number}`;
  let plane = planes.get(id);
  if (plane) planes.delete(id);  // moves it to the end: the order is that of use
  else plane = new Plane(layer, number);
  planes.set(id, plane);
  let bytes = 0;
  for (const held of planes.values()) bytes += held.bytes.length;
  for (const [oldest, held] of planes) {
    if (bytes <= KEPT_BYTES || held === plane) break;
    planes.delete(oldest);
    bytes -= held.bytes.length;
  }
  return plane;
}

/** "4 queries × 4 keys", in words for subtitles. */
function sizeText(layer) {
  const plural = (count, one, many) => `${formatCount(count)} ${count === 1 ? one : many}`;
  return `${plural(layer.queries, 'query', 'queries')} × ${plural(layer.keys, 'key', 'keys')}`;
}

/** How exact the numbers of this page are. */
function precisionText() {
  if (description.packing === 'uint8')
    return 'Numbers are held in 8 bits: each row in 252 steps between its smallest and its largest value, ' +
           `off by at most ${formatNumber(facts.step / 2, 2)}. Zeros are exact.`;
  const rounded = facts.rounded > 0 ? ', rounded from float64' : ', exact';
  if (description.packing === 'strongest')
    return `Only the ${Math.max(...layers.map((layer) => layer.kept))} strongest keys of each query are held (float32${rounded}).`;
  return `Numbers are held as float32${rounded}.`;
}
