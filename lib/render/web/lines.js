// The line view: query tokens left, key tokens right, one line for each pair; its opacity is the weight.

const MOST_LINES = 2000;           // more than this no eye tells apart and no browser draws at once
const FAINTEST = 0.02;             // of all lines together; many fainter ones only make a fog
const FAINTEST_FOCUSED = 1 / 512;  // of one token's lines; less does not change a pixel
const OPACITY_BINS = 4096;

/** Opacity of a value: itself where all are weights, from 0 to 1; else its share of the largest. */
class LineOpacity {
  constructor(scale) {
    this.scale = scale;
    this.reach = Math.max(Math.abs(facts.min || 0), Math.abs(facts.max || 0)) || 1;
    if (areWeights) this.reach = 1;
  }

  of(value) {
    return state.relative ? this.scale.strength(value) : clamp(Math.abs(value) / this.reach, 0, 1);
  }

  text() {
    if (state.relative) return 'Opacity of a line: place of its value in the colour scale.';
    return this.reach === 1 ? 'Opacity of a line = weight.' : `Opacity of a line = |value| / ${formatNumber(this.reach)}.`;
  }
}

/** The strongest lines among `cells`, a function that calls its argument with (query, key, value); none below `faintest`. */
function strongestLines(cells, opacity, faintest) {
  const bins = new Uint32Array(OPACITY_BINS + 1);
  const bin = (strength) => Math.floor(strength * OPACITY_BINS);
  let visible = 0;
  cells((query, key, value) => {
    const strength = opacity.of(value);
    if (strength < faintest) return;
    ++bins[bin(strength)];
    ++visible;
  });
  let edge = OPACITY_BINS;
  let above = 0;
  while (edge > 0 && above + bins[edge] <= MOST_LINES) above += bins[edge--];
  let spare = MOST_LINES - above;  // lines of the bin where the limit falls
  const lines = [];
  cells((query, key, value) => {
    const strength = opacity.of(value);
    if (strength < faintest || bin(strength) < edge) return;
    if (bin(strength) === edge && edge > 0 && --spare < 0) return;
    lines.push({query, key, value, opacity: strength});
  });
  return {lines, visible};
}

/** Visits the cells that hold a value, of all queries or of one, of all keys or of one. */
function eachValue(plane, query, key) {
  return (visit) => {
    const end = query >= 0 ? query + 1 : plane.layer.queries;
    for (let i = Math.max(query, 0); i < end; ++i) {
      const {values, kinds} = plane.row(i);
      const last = key >= 0 ? key + 1 : values.length;
      for (let j = Math.max(key, 0); j < last; ++j)
        if (kinds[j] === KIND.value && Number.isFinite(values[j])) visit(i, j, values[j]);
    }
  };
}

function rowHeight(layer) {
  const most = Math.max(layer.queries, layer.keys);
  return most <= 24 ? 28 : most <= 96 ? 20 : 16;
}

/** One of the two columns of tokens; only those that are seen are in the document. */
class TokenColumn {
  constructor(element, side) {
    this.element = element;
    this.side = side;  // 'query' or 'key'
    this.items = new Map();
    this.axis = null;
  }

  draw(axis, height, {begin, end}) {
    if (axis !== this.axis || height !== this.height) this.clear();
    this.axis = axis;
    this.height = height;
    for (const [index, item] of this.items) {
      if (index >= begin && index < end) continue;
      item.remove();
      this.items.delete(index);
    }
    for (let index = begin; index < Math.min(end, axis.count); ++index)
      if (!this.items.has(index)) this.add(index);
  }

  add(index) {
    const item = make('div', 'line-token');
    item.dataset.index = index;
    item.append(isolate(this.axis.shown(index)));
    item.style.top = `${index * this.height}px`;
    item.style.height = `${this.height}px`;
    item.style.lineHeight = `${this.height}px`;
    this.items.set(index, item);
    this.element.append(item);
  }

  clear() {
    this.element.replaceChildren();
    this.items.clear();
  }

  /** `shade(index)` in [0,1]; `mark(index)` gives class names. */
  style(shade, mark) {
    for (const [index, item] of this.items) {
      item.className = `line-token ${mark(index)}`;
      item.style.setProperty('--shade', String(shade(index)));
    }
  }
}

class LineView {
  constructor() {
    this.scroller = byId('lines');
    this.extent = byId('lines-extent');
    this.art = byId('line-art');
    this.template = byId('line-template').content.querySelector('line');
    this.columns = [new TokenColumn(byId('query-list'), 'query'), new TokenColumn(byId('key-list'), 'key')];
    this.baseId = '';
    this.focusId = '';
    this.scroller.addEventListener('scroll', () => update({}));
    for (const column of this.columns) this.listen(column);
  }

  listen({element, side}) {
    const indexOf = (event) => {
      const item = event.target.closest('.line-token');
      return item ? Number(item.dataset.index) : -1;
    };
    element.addEventListener('pointerover', (event) => {
      const index = indexOf(event);
      if (index >= 0) update({hover: side === 'query' ? {query: index, key: -1} : {query: -1, key: index}, keyboard: false});
    });
    element.addEventListener('pointerleave', () => update({hover: null}));
    element.addEventListener('click', (event) => {
      const index = indexOf(event);
      if (index < 0) return;
      if (side === 'query') update({query: index, pinned: state.pinned === index ? -1 : index, keyboard: false});
      else update({key: index, keyboard: false});
      speak();
    });
  }

  draw() {
    const layer = currentLayer();
    const plane = currentPlane();
    const height = rowHeight(layer);
    const total = height * Math.max(layer.queries, layer.keys, 1);
    const above = this.scroller.getBoundingClientRect().top + window.scrollY;
    this.scroller.style.height = `${Math.min(total, Math.max(360, window.innerHeight - above - 60))}px`;
    this.extent.style.height = `${total}px`;
    this.art.setAttribute('viewBox', `0 0 100 ${total}`);
    const begin = Math.max(0, Math.floor(this.scroller.scrollTop / height) - 10);
    const seen = {begin, end: begin + Math.ceil(this.scroller.clientHeight / height) + 20};
    this.columns[0].draw(layer.queryAxis, height, seen);
    this.columns[1].draw(layer.keyAxis, height, seen);
    const opacity = new LineOpacity(currentScale());
    this.drawBase(plane, opacity, height);
    this.drawFocus(plane, opacity, height);
  }

  /** The query or key whose lines stand out; {query: -1, key: -1} for none. */
  focus() {
    if (state.pinned >= 0) return {query: state.pinned, key: -1};
    if (state.hover) return state.hover.query >= 0 ? {query: state.hover.query, key: -1} : {query: -1, key: state.hover.key};
    return {query: state.keyboard ? state.query : -1, key: -1};
  }

  drawBase(plane, opacity, height) {
    const id = [plane.id, opacity.scale.id, state.relative, height].join('|');
    if (id === this.baseId) return;
    this.baseId = id;
    this.focusId = '';
    const {lines, visible} = strongestLines(eachValue(plane, -1, -1), opacity, FAINTEST);
    this.fill(byId('line-base'), lines, height);
    const notes = [opacity.text(), `Lines fainter than ${FAINTEST} are left out until you point at a token.`];
    if (lines.length < visible) notes.push(`The strongest ${formatCount(lines.length)} of ${formatCount(visible)} are drawn.`);
    byId('line-note').textContent = notes.join(' ');
  }

  drawFocus(plane, opacity, height) {
    const focus = this.focus();
    const id = [this.baseId, focus.query, focus.key].join('|');
    const any = focus.query >= 0 || focus.key >= 0;
    if (id !== this.focusId) {
      this.focusId = id;
      this.art.classList.toggle('focused', any);
      this.lines = any ? strongestLines(eachValue(plane, focus.query, focus.key), opacity, FAINTEST_FOCUSED).lines : [];
      this.fill(byId('line-focus'), this.lines, height);
    }
    const shades = {query: new Map(), key: new Map()};
    for (const line of this.lines) {
      if (focus.query >= 0) shades.key.set(line.key, line.opacity);
      else shades.query.set(line.query, line.opacity);
    }
    for (const column of this.columns) this.styleColumn(column, shades[column.side], focus[column.side]);
  }

  styleColumn(column, shades, focused) {
    const matches = matchesOf(column.side);
    const cursor = cursorShown() ? state[column.side] : -1;
    column.style((index) => shades.get(index) || 0, (index) => [
      index === focused ? 'focused' : '',
      column.side === 'query' && index === state.pinned ? 'pinned' : '',
      index === cursor ? 'cursor' : '',
      matches.has(index) ? 'found' : '',
    ].filter(Boolean).join(' '));
  }

  fill(group, lines, height) {
    const made = lines.map((line) => {
      const element = this.template.cloneNode();
      element.setAttribute('y1', String((line.query + 0.5) * height));
      element.setAttribute('y2', String((line.key + 0.5) * height));
      element.setAttribute('stroke-opacity', String(line.opacity));
      if (line.value < 0) element.setAttribute('class', 'negative');
      element.setAttribute('data-query', String(line.query));
      element.setAttribute('data-key', String(line.key));
      return element;
    });
    group.replaceChildren(...made);
  }

  reveal() {
    const height = rowHeight(currentLayer());
    const top = state.query * height;
    const view = this.scroller.clientHeight;
    this.scroller.scrollTop = top < this.scroller.scrollTop ? top : Math.max(this.scroller.scrollTop, top + height - view);
  }
}
