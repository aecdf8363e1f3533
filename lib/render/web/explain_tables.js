// Tables of numbers with labels.

/** A cell: a text, or a node, or {text, name} with a class name. */
function fillCell(cell, content) {
  if (content instanceof Node) cell.append(content);
  else if (typeof content === 'object') {
    cell.className = content.name;
    if (content.node) cell.append(content.node);
    else cell.textContent = content.text;
    if (content.shade !== undefined) cell.style.setProperty('--shade', String(content.shade));
  } else cell.textContent = content;
  return cell;
}

function tableRow(cells, name) {
  const row = make('tr', name);
  cells.forEach((content, index) => {
    const cell = make(index === 0 ? 'th' : 'td');
    if (index === 0) cell.scope = 'row';
    row.append(fillCell(cell, content));
  });
  return row;
}

/** head: [cells]; rows: [{cells, name}]; foot: the same. In a box that scrolls sideways when it must. */
function makeTable({caption, head, rows, foot = []}) {
  const table = make('table');
  if (caption) table.append(make('caption', '', caption));
  const headRow = make('tr');
  for (const content of head) {
    const cell = make('th');
    cell.scope = 'col';
    headRow.append(fillCell(cell, content));
  }
  const parts = [make('thead'), make('tbody')];
  parts[0].append(headRow);
  parts[1].append(...rows.map(({cells, name = ''}) => tableRow(cells, name)));
  if (foot.length > 0) {
    parts.push(make('tfoot'));
    parts[2].append(...foot.map(({cells, name = ''}) => tableRow(cells, name)));
  }
  table.append(...parts);
  const room = make('div', 'room');
  room.tabIndex = 0;
  room.setAttribute('role', 'region');
  room.setAttribute('aria-label', caption || 'Table');
  room.append(table);
  return room;
}

/** Tables beside each other where there is room. */
function sideBySide(...tables) {
  const box = make('div', 'tables');
  box.append(...tables);
  return box;
}

const indices = (count) => Array.from({length: count}, (_, index) => String(index));

/** A matrix of the computation with its labels. */
function matrixTable(caption, matrix, labels) {
  const rows = labels.map((label, row) => ({cells: [isolate(label), ...matrix.row(row).map(show)]}));
  return makeTable({caption, head: ['', ...indices(matrix.columns)], rows});
}

/** One row for each key: `cells(key)` gives what stands behind the key's name. The key that is followed is marked. */
function keyTable({caption, head, cells, foot, withButtons = false}) {
  const rows = keyLabels.map((label, key) => ({
    cells: [withButtons ? keyButton(label, key) : isolate(label), ...cells(key)],
    name: [key === followed.key ? 'chosen' : '', isBlocked(heads[followed.head], key) ? 'blocked' : ''].filter(Boolean).join(' '),
  }));
  return makeTable({caption, head: ['key', ...head], rows, foot});
}

function keyButton(label, key) {
  const button = make('button');
  button.type = 'button';
  button.append(isolate(label));
  button.setAttribute('aria-pressed', String(key === followed.key));
  button.addEventListener('click', () => follow({key}, `key-${key}`));
  button.id = `key-${key}`;
  return button;
}

/** A bar as long as a weight. */
function weightBar(weight) {
  const bar = make('span', 'bar');
  bar.style.width = `${100 * clamp(weight || 0, 0, 1)}%`;
  return {node: bar, name: 'bar-cell'};
}
