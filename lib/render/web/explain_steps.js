// The steps from one query to its output. Each gives a heading, what happens in words, and the numbers.

const TERMS_IN_A_ROW = 6;  // longer dot products are told for one key at a time

/** A sentence of texts and nodes. */
function paragraph(...parts) {
  const element = make('p');
  element.append(...parts);
  return element;
}

const queryName = () => isolate(queryLabels[followed.query]);
const keyName = () => isolate(keyLabels[followed.key]);

function sourceStep() {
  const details = make('details');
  details.append(make('summary', '', 'Show the embeddings and the matrices'));
  for (const matrix of told.before) {
    const labels = labelsOf(matrix.labels, matrix.rows);
    details.append(make('h3', '', matrix.title), matrixTable('', new Matrix(matrix.values, matrix.columns), labels));
  }
  return {
    title: 'Where query, key and value come from',
    parts: [paragraph('Each token’s embedding was multiplied by three matrices: one makes what it asks for (Q), one what it ' +
                      'offers (K), one what it passes on (V).'), details],
  };
}

function questionStep(head) {
  const query = makeTable({
    caption: 'q: the row of Q of this query', head: ['', ...indices(head.d)],
    rows: [{cells: [queryName(), ...head.query.row(followed.query).map(show)]}],
  });
  return {
    title: 'A query and all keys',
    parts: [paragraph('The query ', queryName(), ' is a row of numbers. Every key is a row of the same length.'),
            sideBySide(query, keyTable({caption: 'K: one row for each key', head: indices(head.d), cells: (key) => head.key.row(key).map(show)}))],
  };
}

/** "0.5 × 1 + 2 × (−1)" */
function termsText(head, key) {
  const q = head.query.row(followed.query);
  const k = head.key.row(key);
  return q.map((value, index) => `${showFactor(value)} × ${showFactor(k[index])}`).join(' + ');
}

function productStep(head) {
  const short = head.d <= TERMS_IN_A_ROW;
  const cells = (key) => [...(short ? [{text: termsText(head, key), name: 'terms'}] : []),
                          {text: show(head.products.at(followed.query, key)), name: 'result'}];
  const q = head.query.row(followed.query);
  const k = head.key.row(followed.key);
  let sum = 0;
  const rows = q.map((value, index) => {
    sum += value * k[index];
    return {cells: [String(index), show(value), show(k[index]), show(value * k[index]), show(sum)]};
  });
  const details = makeTable({caption: 'term by term', head: ['', 'q', 'k', 'q × k', 'sum so far'], rows});
  const heading = make('h3', 'follows');
  heading.append('query ', queryName(), ' times key ', keyName());
  const followedKey = make('div');
  followedKey.append(heading, details);
  return {
    title: 'How well do they fit? The dot product',
    parts: [paragraph('Multiply number by number and add up: the more query and key point the same way, the larger the product. ' +
                      'Choose a key to follow it through all steps.'),
            sideBySide(keyTable({caption: 'q · k for each key', head: [...(short ? [{text: 'terms', name: 'terms'}] : []), 'q · k'], cells, withButtons: true}), followedKey)],
  };
}

function scaleStep(head) {
  const {query} = followed;
  const capped = !head.capped.isEmpty;
  const cells = (key) => [show(head.products.at(query, key)), {text: show(head.scaled.at(query, key)), name: capped ? '' : 'result'},
                          ...(capped ? [{text: show(head.capped.at(query, key)), name: 'result'}] : [])];
  const parts = [paragraph(`Every product is multiplied by ${show(told.scale)}` + (Math.abs(told.scale * Math.sqrt(head.d) - 1) < 1e-6 ?
    `, which is 1/√${head.d}: the longer the rows, the larger their products grow, and softmax would see only the largest.` : '.'))];
  if (capped) parts.push(paragraph(`Then ${show(told.softcap)} · tanh(score / ${show(told.softcap)}) keeps scores within ±${show(told.softcap)}.`));
  parts.push(keyTable({caption: 'scores', head: ['q · k', `× ${show(told.scale)}`, ...(capped ? ['capped'] : [])], cells}));
  return {title: capped ? 'Scale and cap' : 'Scale', parts};
}

function maskStep(head) {
  const {query} = followed;
  const before = head.capped.isEmpty ? head.scaled : head.capped;
  const cells = (key) => {
    const added = head.masked.at(query, key) - before.at(query, key);
    const what = isBlocked(head, key) ? 'blocked' : added === 0 ? 'seen' : `seen, ${added > 0 ? '+' : '−'} ${show(Math.abs(added))}`;
    return [show(before.at(query, key)), what, {text: show(head.masked.at(query, key)), name: 'result'}];
  };
  return {
    title: 'Mask',
    parts: [paragraph(`Which keys may this query see? The mask says: ${told.mask_text}. A blocked key gets the score −∞, and exp(−∞) is 0.`),
            keyTable({caption: 'masked scores', head: ['score', 'mask', 'masked'], cells})],
  };
}

function softmaxStep(head) {
  const {query} = followed;
  const [maximum, sum] = [head.maximum[query], head.sum[query]];
  if (maximum === -Infinity) {
    return {title: 'Softmax', parts: [paragraph('No key is allowed for this query: there is nothing to divide, and all weights are ' +
                                                `${show(head.weights.at(query, 0))}.`)]};
  }
  const difference = (key) => isBlocked(head, key) ? '−∞' : show(head.masked.at(query, key) - maximum);
  const cells = (key) => [show(head.masked.at(query, key)), difference(key), show(head.exponentials.at(query, key)),
                          {text: show(head.weights.at(query, key)), name: 'result'}, weightBar(head.weights.at(query, key))];
  const weightSum = head.weights.row(query).reduce((total, weight) => total + weight, 0);
  const foot = [{cells: ['sum', '', '', show(sum), show(weightSum), '']}];
  if (head.sink.length > 0) foot.unshift({cells: ['(sink)', '', '', show(head.sink[query]), '', '']});
  const chosen = followed.key;
  return {
    title: 'Softmax: from scores to weights',
    parts: [paragraph(`Subtract the largest score (${show(maximum)}; it cancels out, and keeps the numbers small), take the exponential, ` +
                      'and divide by the sum: weights between 0 and 1' +
                      (head.sink.length > 0 ? '. The sink takes a share of its own.' : ' that add up to 1.')),
            keyTable({caption: 'weights', head: ['score', '− maximum', 'exp', '÷ sum = weight', ''], cells, foot}),
            paragraph('For key ', keyName(), `: ${show(head.exponentials.at(query, chosen))} ÷ ${show(sum)} = ${show(head.weights.at(query, chosen))}`)],
  };
}

function outputStep(head) {
  const {query} = followed;
  const share = (key) => {
    const weight = head.weights.at(query, key);
    return head.value.row(key).map((value) => show(weight === 0 ? 0 : weight * value));
  };
  const cells = (key) => [{text: show(head.weights.at(query, key)), name: 'result'}, ...share(key)];
  return {
    title: 'Output: the weighted sum of the values',
    parts: [paragraph('Each key’s row of V is multiplied by its weight; the sum of these rows is what ', queryName(), ' becomes.'),
            sideBySide(keyTable({caption: 'V: one row for each key', head: indices(head.v), cells: (key) => head.value.row(key).map(show)}),
                       keyTable({caption: 'weight times the row of V', head: ['weight', ...indices(head.v)], cells,
                                 foot: [{cells: ['output', '', ...head.output.row(query).map(show)]}]}))],
  };
}

/** All weights at once: each row is what one query's walk ends in. */
function overviewStep(head) {
  const rows = queryLabels.map((label, query) => {
    const button = make('button');
    button.type = 'button';
    button.id = `row-${query}`;
    button.append(isolate(label));
    button.setAttribute('aria-pressed', String(query === followed.query));
    button.addEventListener('click', () => follow({query}, `row-${query}`));
    const weights = head.weights.row(query).map((weight) => ({text: show(Number(weight.toPrecision(3))), name: 'shaded', shade: clamp(weight || 0, 0, 1)}));
    return {cells: [button, ...weights], name: query === followed.query ? 'current' : ''};
  });
  return {
    title: 'All queries',
    parts: [paragraph('The same for every query gives the matrix of weights: one row for each query. Choose a row to walk through it.'),
            makeTable({caption: 'weights of all queries', head: ['query', ...keyLabels.map(isolate)], rows})],
  };
}

function afterStep() {
  const parts = [paragraph('What the heads give is put side by side and leaves through the last matrix.')];
  for (const matrix of told.after) {
    const labels = labelsOf(matrix.labels, matrix.rows);
    parts.push(make('h3', '', matrix.title), matrixTable('', new Matrix(matrix.values, matrix.columns), labels));
  }
  return {title: 'All heads together', parts};
}

/** The steps that this computation has. */
function stepsOf(head) {
  const steps = [];
  if (told.before.length > 0) steps.push(sourceStep());
  steps.push(questionStep(head), productStep(head), scaleStep(head));
  if (told.mask_text !== 'none') steps.push(maskStep(head));
  steps.push(softmaxStep(head));
  if (head.v > 0) steps.push(outputStep(head));
  steps.push(overviewStep(head));
  if (told.after.length > 0) steps.push(afterStep());
  return steps;
}
