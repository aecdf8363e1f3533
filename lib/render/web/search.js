// Tokens that contain the searched text, on both axes.

const foundTokens = {id: '', query: new Set(), key: new Set()};

function matchesOf(side) {
  const layer = currentLayer();
  const id = `${layer.number}|${state.search}`;
  if (id !== foundTokens.id) {
    foundTokens.id = id;
    foundTokens.query = findTokens(layer.queryAxis);
    foundTokens.key = findTokens(layer.keyAxis);
  }
  return foundTokens[side];
}

function findTokens(axis) {
  const found = new Set();
  const wanted = state.search.toLocaleLowerCase();
  if (!wanted) return found;
  for (let i = 0; i < axis.count; ++i)
    if (axis.shown(i).toLocaleLowerCase().includes(wanted) || axis.token(i).toLocaleLowerCase().includes(wanted)) found.add(i);
  return found;
}

/** Those of the matches that stand in the seen part of the map. */
function visibleMatches(side, place, offset) {
  if (!state.search) return [];
  const cells = visibleCells(place, offset);
  const {begin, end} = side === 'query' ? cells.queries : cells.keys;
  return Array.from(matchesOf(side)).filter((index) => index >= begin && index < end).slice(0, 200);
}

/** Brings the keyboard's cell to the next query found, or to the next key where no query is. */
function goToMatch(direction) {
  const side = matchesOf('query').size > 0 ? 'query' : 'key';
  const matches = Array.from(matchesOf(side));
  if (matches.length === 0) return;
  const after = matches.findIndex((index) => index > state[side]);
  let at = after < 0 ? 0 : after;
  if (direction < 0) {
    const before = matches.filter((index) => index < state[side]).length - 1;
    at = before < 0 ? matches.length - 1 : before;
  }
  update({[side]: matches[at], keyboard: true, hover: null, reveal: true});
  speak();
}

function drawSearch() {
  const [queries, keys] = [matchesOf('query').size, matchesOf('key').size];
  byId('found').textContent = state.search ? `${formatCount(queries)} in queries, ${formatCount(keys)} in keys` : '';
}
