// The numbers of the page: every step of every head, as the program computed them.

const told = readJson('explanation');

/** "-Infinity", "Infinity" and "NaN" stand for what JSON has no number for. */
const numbers = (list) => list.map(Number);

function labelsOf(list, count) {
  const shown = list.shown || list.tokens;
  return Array.from({length: count}, (_, index) => index < shown.length ? shown[index] : String(index));
}

const queryLabels = labelsOf(told.query_tokens, told.queries);
const keyLabels = labelsOf(told.key_tokens, told.keys);

/** A matrix as rows. */
class Matrix {
  constructor(values, columns) {
    this.values = numbers(values);
    this.columns = columns;
  }
  row(index) {
    return this.values.slice(index * this.columns, (index + 1) * this.columns);
  }
  at(row, column) {
    return this.values[row * this.columns + column];
  }
  get isEmpty() {
    return this.values.length === 0;
  }
}

const heads = told.heads.map((head) => {
  const {head_size: d, value_size: v} = head;
  const m = told.keys;
  return {
    name: head.name, d, v,
    query: new Matrix(head.query, d), key: new Matrix(head.key, d), value: new Matrix(head.value, v),
    products: new Matrix(head.products, m), scaled: new Matrix(head.scaled, m), capped: new Matrix(head.capped, m),
    masked: new Matrix(head.masked, m), exponentials: new Matrix(head.exponentials, m), weights: new Matrix(head.weights, m),
    output: new Matrix(head.output, v),
    maximum: numbers(head.maximum), sum: numbers(head.sum), sink: numbers(head.sink),
  };
});

/** What the reader follows just now. */
const followed = {head: 0, query: told.first_query, key: told.first_key};

const isBlocked = (head, key) => head.masked.at(followed.query, key) === -Infinity;

/** Six digits, a real minus, the sign of infinity. */
function show(value) {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  return formatNumber(value, 6).replace(/-/g, '−');
}

/** For use inside a product or a sum: negative numbers in brackets. */
const showFactor = (value) => value < 0 ? `(${show(value)})` : show(value);
