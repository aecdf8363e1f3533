// Pickers, keyboard, search box, buttons.

function fillSelect(select, texts) {
  select.replaceChildren(...texts.map((text, index) => {
    const option = make('option', '', text);
    option.value = String(index);
    return option;
  }));
}

/** Pickers of what the layer does not have are hidden. */
function fillPickers() {
  const layer = currentLayer();
  fillSelect(byId('batch'), Array.from({length: layer.batchCount}, (_, batch) => String(batch)));
  fillSelect(byId('head'), layer.headNumbers.map(String));
  byId('layer-field').hidden = layers.length < 2;
  byId('batch-field').hidden = layer.batchCount < 2;
  byId('head-field').hidden = layer.headNumbers.length < 2;
}

/** A typed bound; null (take the bound found) when it is no number. */
function typedBound(input) {
  const text = input.value.trim().replace(',', '.');
  const value = Number(text);
  const right = text !== '' && Number.isFinite(value);
  input.setAttribute('aria-invalid', String(text !== '' && !right));
  return right ? value : null;
}

function zoomBy(direction, heatmap) {
  const {place} = heatmap;
  const now = state.zoom || (place.poolColumns > 1 ? 0 : place.cellWidth / place.unit);
  const next = direction > 0 ? ZOOM_STEPS.find((step) => step > now + 0.01) : ZOOM_STEPS.filter((step) => step < now - 0.01).pop();
  if (next) update({zoom: next, reveal: true});
}

function setUpPickers() {
  fillSelect(byId('layer'), layers.map((layer) => layer.name || `layer ${layer.number}`));
  byId('scale').querySelector('[value="log"]').disabled = isSigned;  // no place for negative values
  if (layers.length === 1 && layers[0].batchCount * layers[0].headNumbers.length === 1) {
    byId('range').querySelector('[value="head"]').remove();
    byId('range').querySelector('[value="page"]').textContent = 'data';
  }
  fillPickers();
  const choose = (name) => byId(name).addEventListener('change', () => {
    update({[name]: Number(byId(name).value), hover: null});
    fitToLayer();
    if (name === 'layer') fillPickers();
  });
  ['layer', 'batch', 'head'].forEach(choose);
  for (const radio of document.querySelectorAll('input[name="view"]'))
    radio.addEventListener('change', () => update({view: radio.value, hover: null}));
  byId('scale').addEventListener('change', () => update({scale: byId('scale').value}));
  byId('range').addEventListener('change', () => {
    const span = currentScale();
    byId('low').value = formatNumber(span.low, 6);
    byId('high').value = formatNumber(span.high, 6);
    update({range: byId('range').value, low: span.low, high: span.high});
  });
  for (const name of ['low', 'high']) byId(name).addEventListener('input', () => update({[name]: typedBound(byId(name))}));
  byId('relative').addEventListener('change', () => update({relative: byId('relative').checked}));
}

function setUpButtons(heatmap) {
  byId('zoom-in').addEventListener('click', () => zoomBy(1, heatmap));
  byId('zoom-out').addEventListener('click', () => zoomBy(-1, heatmap));
  byId('zoom-fit').addEventListener('click', () => update({zoom: 0}));
  byId('save-png').addEventListener('click', exportPicture);
  byId('save-csv').addEventListener('click', exportCsv);
  byId('more-keys').addEventListener('click', () => update({allKeys: !state.allKeys}));
  byId('pin').addEventListener('click', () => update({pinned: state.pinned >= 0 ? -1 : state.query}));
  byId('search').addEventListener('input', () => update({search: byId('search').value.trim()}));
  byId('search').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    goToMatch(event.shiftKey ? -1 : 1);
  });
}

/** Key → what it does with the cell {query, key}. */
const MOVES = {
  ArrowUp: (cell) => ({query: cell.query - 1}),
  ArrowDown: (cell) => ({query: cell.query + 1}),
  ArrowLeft: (cell) => ({key: cell.key - 1}),
  ArrowRight: (cell) => ({key: cell.key + 1}),
  Home: () => ({key: 0}),
  End: () => ({key: Infinity}),
  PageUp: (cell) => ({query: cell.query - 10}),
  PageDown: (cell) => ({query: cell.query + 10}),
};

function moveTo(move) {
  const layer = currentLayer();
  const query = clamp(move.query === undefined ? state.query : move.query, 0, layer.queries - 1);
  const key = clamp(move.key === undefined ? state.key : move.key, 0, layer.keys - 1);
  update({query, key, keyboard: true, hover: null, reveal: true});
  speak();
}

function changeHead(direction) {
  const head = clamp(state.head + direction, 0, currentLayer().headNumbers.length - 1);
  update({head, hover: null});
  byId('spoken').textContent = placeText();
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || isEmpty(currentLayer())) return;
  const {key} = event;
  if (MOVES[key]) moveTo(MOVES[key](state));
  else if (key === 'Enter' || key === ' ') {
    update({pinned: state.pinned === state.query ? -1 : state.query, keyboard: true});
    byId('spoken').textContent = state.pinned >= 0 ? 'pinned' : 'not pinned';
  } else if (key === 'Escape') update({pinned: -1, hover: null});
  else if (key === '[') changeHead(-1);
  else if (key === ']') changeHead(1);
  else return;
  event.preventDefault();
}

function setUpKeyboard() {
  const view = byId('view');
  view.addEventListener('keydown', onKey);
  view.addEventListener('focus', () => {
    if (view.matches(':focus-visible')) {
      update({keyboard: true});
      speak();
    }
  });
  view.addEventListener('blur', () => update({keyboard: false}));
}
