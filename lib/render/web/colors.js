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

/** What the numbers span, before the scale: 0 to the largest, or both sides of the centre for signed ones. */
function spanOf(found) {
  const {center} = description.options;
  if (!(found.min <= found.max)) return {low: 0, high: 1};
  if (center !== null || found.min < 0) {
    const middle = center === null ? 0 : center;
    const reach = Math.max(Math.abs(found.max - middle), Math.abs(found.min - middle));
    return {low: middle - reach, high: middle + reach};
  }
  return {low: 0, high: found.max};
}

/** The range asked for on the page, or when it was made. */
function currentRange() {
  const found = state.range === 'head' ? currentPlane().range() : facts;
  const span = spanOf({min: found.min === null ? Infinity : found.min, max: found.max === null ? -Infinity : found.max});
  if (state.range !== 'own') {
    if (state.range === 'page' && description.options.vmin !== null) span.low = description.options.vmin;
    if (state.range === 'page' && description.options.vmax !== null) span.high = description.options.vmax;
    return span;
  }
  return {low: state.low === null ? span.low : state.low, high: state.high === null ? span.high : state.high};
}

/** Places numbers in [0,1] along the colours. */
class ColorScale {
  constructor(scale, range) {
    this.scale = scale;
    this.low = range.low;
    this.high = range.high;
    const signed = this.low < 0 && this.high > 0;
    this.middle = signed ? 0 : this.low;
    if (description.options.center !== null) this.middle = description.options.center;
    this.signed = this.middle > this.low;
    this.reach = Math.max(this.high - this.middle, this.middle - this.low);
    this.id = `${scale}|${this.low}|${this.high}`;
  }

  place(value) {
    if (!(this.high > this.low)) return value > this.low ? 1 : 0;
    if (this.scale === 'linear') return (value - this.low) / (this.high - this.low);
    const distance = Math.min(Math.abs(value - this.middle) / this.reach, 1);
    const bent = this.scale === 'sqrt' ? Math.sqrt(distance) : bendLog(distance);
    if (!this.signed) return value < this.middle ? 0 : bent;
    return value < this.middle ? 0.5 - bent / 2 : 0.5 + bent / 2;
  }

  /** The number at a place: the ticks of the colour bar. */
  valueAt(place) {
    if (this.scale === 'linear') return this.low + place * (this.high - this.low);
    const bent = this.signed ? Math.abs(2 * place - 1) : place;
    const distance = this.scale === 'sqrt' ? bent * bent : unbendLog(bent);
    return this.middle + (this.signed && place < 0.5 ? -1 : 1) * distance * this.reach;
  }

  index(value) {
    const place = this.place(value);
    return place > 0 ? Math.min(Math.floor(place * 256), 255) : 0;
  }
}

/** The logarithmic scale shows this many powers of ten below the largest value. */
const LOG_DECADES = 4;
const bendLog = (distance) => distance <= 0 ? 0 : Math.max(0, 1 + Math.log10(distance) / LOG_DECADES);
const unbendLog = (bent) => bent <= 0 ? 0 : 10 ** ((bent - 1) * LOG_DECADES);

const currentScale = () => new ColorScale(state.scale, currentRange());

/** Black or white, whichever reads better on a colour (luminance 0.179 has the same contrast to both). */
function inkOn([red, green, blue]) {
  const linear = (channel) => channel <= 10.31475 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) > 0.179 ? '#000' : '#fff';
}

/** Looks that no value has, by kind; x and y are device pixels, `unit` one CSS pixel. */
const LOOKS = {
  [KIND.blocked]: {light: 0xffe8e4e2, dark: 0xffb4aca6, marks: (x, y, unit) => (x + y) % (6 * unit) < unit},
  [KIND.emptyRow]: {light: 0xffe8e4e2, dark: 0xff8a807a, marks: (x, y, unit) => y % (4 * unit) < unit},
  [KIND.nan]: {light: 0xffffffff, dark: 0xffc800d2, marks: (x, y, unit) => (x % (4 * unit) < 2 * unit) === (y % (4 * unit) < 2 * unit)},
  [KIND.absent]: {light: 0xfff6f4f3, dark: 0xffc0b8b2, marks: (x, y, unit) => x % (4 * unit) < unit && y % (4 * unit) < unit},
};
