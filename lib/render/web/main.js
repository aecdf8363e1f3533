// Puts the parts together: what changed is drawn again, once a frame.

const heatmap = new Heatmap();
const lineView = new LineView();
const thumbnails = new Thumbnails();

function drawControls() {
  const layer = currentLayer();
  byId('layer').value = String(state.layer);
  byId('batch').value = String(state.batch);
  byId('head').value = String(state.head);
  byId('scale').value = state.scale;
  const lines = state.view === 'lines';
  byId('heatmap').hidden = lines;
  byId('lines').hidden = !lines;
  byId('map-note').hidden = lines;
  byId('line-note').hidden = !lines;
  byId('zoom-field').hidden = lines;
  byId('relative-field').hidden = !lines;
  byId('legend').hidden = lines;
  for (const name of ['scale', 'range']) byId(name).parentElement.hidden = lines && !state.relative;
  byId('own-range').hidden = state.range !== 'own' || (lines && !state.relative);
  const place = placeText();
  byId('subtitle').textContent = [sizeText(layer), layer.reduced ? 'heads reduced' : '', place].filter(Boolean).join(' · ');
  byId('view').setAttribute('aria-label', `${lines ? 'Lines' : 'Heatmap'} of ${document.title}, ${sizeText(layer)}${place ? `, ${place}` : ''}`);
}

function drawAll(names) {
  drawControls();
  drawReadout();
  drawSearch();
  if (!isEmpty(currentLayer())) {
    const view = state.view === 'lines' ? lineView : heatmap;
    view.draw();
    if (names.has('reveal')) view.reveal();
  }
  thumbnails.draw();
  drawLegend();
  drawLooks();
  drawPanel();
}

function start() {
  if (layers.length === 0) {
    byId('readout').textContent = 'There is nothing to show.';
    return;
  }
  byId('version').textContent = description.version;
  byId('precision').textContent = precisionText();
  setUpTheme(byId('theme'), () => update({theme: isDark()}));
  setUpPickers();
  setUpButtons(heatmap);
  setUpKeyboard();
  onChange(drawAll);
  new ResizeObserver(() => update({})).observe(byId('view'));
  window.addEventListener('resize', () => update({}));
  update({});
}

start();
