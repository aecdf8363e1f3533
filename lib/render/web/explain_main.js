// Puts the walk together and lets the reader choose head, query and key.

/** Follows another head, query or key; `focus` names the button that keeps the keyboard. */
function follow(change, focus) {
  Object.assign(followed, change);
  draw();
  if (focus && byId(focus)) byId(focus).focus({preventScroll: true});
  const {query, key, head} = followed;
  const said = [`query ${queryLabels[query]}, ${query + 1} of ${told.queries}`];
  if (change.head !== undefined) said.unshift(heads[head].name);
  if (change.key !== undefined) said.push(`key ${keyLabels[key]}: weight ${show(heads[head].weights.at(query, key))}`);
  byId('spoken').textContent = said.join(', ');
}

function drawStep({title, parts}, number) {
  const section = make('section', 'step');
  const heading = make('h2');
  heading.append(make('span', 'number', String(number)), title);
  heading.id = `step-${number}`;
  section.setAttribute('aria-labelledby', heading.id);
  section.append(heading, ...parts);
  return section;
}

function draw() {
  const head = heads[followed.head];
  const opened = Array.from(document.querySelectorAll('details'), (details) => details.open);
  byId('steps').replaceChildren(...stepsOf(head).map((step, index) => drawStep(step, index + 1)));
  document.querySelectorAll('details').forEach((details, index) => {
    details.open = opened[index] || false;
  });
  for (const button of byId('queries').children) button.setAttribute('aria-pressed', String(Number(button.dataset.query) === followed.query));
  byId('previous').disabled = followed.query === 0;
  byId('next').disabled = followed.query === told.queries - 1;
  byId('head').value = String(followed.head);
  byId('story').replaceChildren('Below, the query ', isolate(queryLabels[followed.query]), ' is followed from its numbers to its output.');
}

function setUpChooser() {
  byId('head').replaceChildren(...heads.map((head, index) => {
    const option = make('option', '', head.name || `head ${index}`);
    option.value = String(index);
    return option;
  }));
  byId('head-field').hidden = heads.length < 2;
  byId('head').addEventListener('change', () => follow({head: Number(byId('head').value)}));
  byId('queries').append(...queryLabels.map((label, query) => {
    const button = make('button');
    button.type = 'button';
    button.dataset.query = query;
    button.append(isolate(label));
    button.addEventListener('click', () => follow({query}));
    return button;
  }));
  byId('previous').addEventListener('click', () => follow({query: followed.query - 1}));
  byId('next').addEventListener('click', () => follow({query: followed.query + 1}));
  byId('queries').addEventListener('keydown', (event) => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    const query = clamp(followed.query + step, 0, told.queries - 1);
    follow({query});
    byId('queries').children[query].focus();
  });
}

function start() {
  const {d} = heads[0];
  const usual = Math.abs(told.scale * Math.sqrt(d) - 1) < 1e-6;
  byId('version').textContent = told.version;
  byId('scale-text').textContent = usual ? '1/√d' : show(told.scale);
  const size = (count, one, many) => `${count} ${count === 1 ? one : many}`;
  byId('subtitle').textContent = [`${size(told.queries, 'query', 'queries')} × ${size(told.keys, 'key', 'keys')}`, `head size d = ${d}`,
                                  `scale ${show(told.scale)}`, `mask: ${told.mask_text}`].join(' · ');
  setUpTheme(byId('theme'), () => {});
  setUpChooser();
  draw();
}

start();
