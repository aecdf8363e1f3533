// From a number to its colour: the range, the scale, and the 256 colours of the page.

/** The colours as canvas pixels (alpha, blue, green, red from the highest byte) and as [red, green, blue]. */
const palette = (() => {
  const pixels = new Uint32Array(256);
  const channels = [];
  for (let i = 0; i < 256; ++i) {
    const rgb = parseInt(facts.colors.slice(6 * i, 6 * i + 6), 16);
    const [red, green, blue] = [rgb >> 16, (rgb >> 8) & 255, rgb & 255];
    channels.push([red, green, blue]);
    pixels[i] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }
  return {pixels, channels};
})();

const {center} = description.options;
const isSigned = center !== null || (facts.min !== null && facts.min < 0);
/** A logarithmic scale ends at this share of the largest value: four decades can still be told apart. */
const LOG_DECADES = 1e-4;

/** The range without wishes: 0 to the largest value, or both sides of the centre for signed ones. */
function spanOf(found, scale) {
  const any = found.min !== null && found.min <= found.max;
  if (isSigned) {
    const middle = center === null ? 0 : center;
    const reach = any ? Math.max(Math.abs(found.max - middle), Math.abs(middle - found.min)) : 1;
    return {low: middle - (reach || 1), high: middle + (reach || 1)};
  }
  if (scale !== 'log') return {low: 0, high: any ? found.max : 1};
  const high = any && found.max > 0 ? found.max : 1;
  const least = any && found.least > 0 && found.least < Infinity ? found.least : high;
  return {low: Math.max(Math.min(least, high), high * LOG_DECADES), high};
}

/** The range asked for on the page, or when it was made. */
function currentRange() {
  const span = spanOf(state.range === 'head' ? currentPlane().range() : facts, state.scale);
  const asked = state.range === 'own' ? {low: state.low, high: state.high} :
    state.range === 'page' ? {low: description.options.vmin, high: description.options.vmax} : {low: null, high: null};
  if (isSigned && (asked.low === null) !== (asked.high === null)) {  // the other side mirrors the one that is given
    const middle = center === null ? 0 : center;
    const mirrored = 2 * middle - (asked.low === null ? asked.high : asked.low);
    if (asked.low === null) span.low = mirrored;
    else span.high = mirrored;
  }
  return {low: asked.low === null ? span.low : asked.low, high: asked.high === null ? span.high : asked.high};
}

/** Places numbers in [0,1] along the colours. */
class ColorScale {
  constructor(scale, {low, high}) {
    this.scale = scale;
    if (scale === 'log' && low <= 0) low = high > 0 ? high * LOG_DECADES : 0.1;
    if (!(low < high)) high = scale === 'log' ? low * 10 : low + Math.max(1, Math.abs(low));
    const middle = center === null ? 0 : center;
    this.low = low;
    this.high = high;
    this.signed = isSigned && scale !== 'log' && low < middle && middle < high;
    this.middle = this.signed ? middle : low;
    this.ends = {low: this.bend(low), middle: this.bend(this.middle), high: this.bend(high)};
    this.id = `${scale}|${low}|${high}`;
  }

  bend(value) {
    if (this.scale === 'linear') return value;
    if (this.scale === 'log') return value > 0 ? Math.log10(value) : -Infinity;
    const distance = this.signed ? value - this.middle : value;
    return Math.sign(distance) * Math.sqrt(Math.abs(distance));
  }

  place(value) {
    if (value <= this.low) return 0;
    if (value >= this.high) return 1;
    const at = this.bend(value);
    const {low, middle, high} = this.ends;
    if (!this.signed) return (at - low) / (high - low);
    return at < middle ? (0.5 * (at - low)) / (middle - low) : 0.5 + (0.5 * (at - middle)) / (high - middle);
  }

  /** How strong a value is, 0 to 1: its place, or on both sides of the centre the distance from it. */
  strength(value) {
    const place = this.place(value);
    return this.signed ? Math.abs(2 * place - 1) : place;
  }

  index(value) {
    const place = this.place(value);
    return place > 0 ? Math.min(Math.floor(place * 256), 255) : 0;
  }

  /** Round numbers along the bar, at most `most`: [{place, text}]. */
  ticks(most) {
    const values = this.scale === 'log' ? powersOfTen(this.low, this.high) : roundNumbers(this.low, this.high, this.scale === 'sqrt' ? 2 * most : most);
    const kept = [];
    for (const value of values) {
      const place = this.place(value);
      if (kept.length === 0 || place - kept[kept.length - 1].place > 0.8 / most) kept.push({place, text: formatNumber(value, 5)});
    }
    return this.endTicks(kept);
  }

  /** The ends of the bar have numbers too: the largest value, or where the range was cut. */
  endTicks(ticks) {
    const inner = ticks.filter(({place}) => place > 0.14 && place < 0.86);
    const atEnd = (place) => ticks.find((tick) => Math.abs(tick.place - place) < 0.001);
    const low = atEnd(0) || {place: 0, text: formatNumber(this.low, 3)};
    const high = atEnd(1) || {place: 1, text: formatNumber(this.high, 3)};
    return [low, ...inner, high];
  }
}

/** Multiples of 1, 2, 2.5 or 5 times a power of ten. */
function roundNumbers(low, high, most) {
  const least = (high - low) / Math.max(1, most - 1);
  const unit = 10 ** Math.floor(Math.log10(least));
  const step = unit * [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= least * (1 - 1e-9));
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && values.length <= most; ++i) values.push(i * step);
  return values.length > 0 ? values : [low, high];
}

function powersOfTen(low, high) {
  const values = [];
  const few = Math.log10(high / low) <= 3;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
    for (const factor of few ? [1, 2, 5] : [1])
      if (factor * 10 ** power >= low * (1 - 1e-9) && factor * 10 ** power <= high * (1 + 1e-9)) values.push(factor * 10 ** power);
  return values.length > 0 ? values : [low, high];
}

const currentScale = () => new ColorScale(state.scale, currentRange());

/** Black or white, whichever reads better on a colour (luminance 0.179 has the same contrast to both). */
function inkOn([red, green, blue]) {
  const linear = (channel) => channel <= 10.31475 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.179 ? '#000' : '#fff';
}

/** Ground and lines of cells without a value, as in the other pictures; no colormap has these colours. */
const HATCHES = {
  light: {
    [KIND.blocked]: [[241, 241, 247], [203, 203, 216]], [KIND.emptyRow]: [[251, 242, 226], [224, 192, 138]],
    [KIND.nan]: [[241, 66, 205], [120, 0, 98]], [KIND.absent]: [[255, 255, 255], [196, 205, 214]],
  },
  dark: {
    [KIND.blocked]: [[36, 37, 46], [72, 74, 90]], [KIND.emptyRow]: [[52, 43, 28], [112, 90, 48]],
    [KIND.nan]: [[241, 66, 205], [120, 0, 98]], [KIND.absent]: [[27, 29, 33], [78, 86, 96]],
  },
};

/** Where the lines are; x and y are device pixels, `unit` one CSS pixel. */
const HATCH_LINES = {
  [KIND.blocked]: (x, y, unit) => (x + y) % (6 * unit) < unit,
  [KIND.emptyRow]: (x, y, unit) => y % (5 * unit) < unit,
  [KIND.nan]: (x, y, unit) => (x + y) % (6 * unit) < unit || (x - y + 6e6 * unit) % (6 * unit) < unit,
  [KIND.absent]: (x, y, unit) => x % (4 * unit) < unit && y % (4 * unit) < unit,
};

const pixelOf = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

/** The looks of the theme just now, by kind. */
function currentLooks() {
  const looks = {};
  for (const [kind, [ground, line]] of Object.entries(HATCHES[isDark() ? 'dark' : 'light']))
    looks[kind] = {ground: pixelOf(ground), line: pixelOf(line), isLine: HATCH_LINES[kind]};
  return looks;
}
