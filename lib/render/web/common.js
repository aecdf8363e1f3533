// What every page needs: elements, data blocks, numbers as text, the light and the dark theme.
// Tokens and titles reach the document only as textContent, each in a <bdi>.

const byId = (id) => document.getElementById(id);
const readJson = (id) => JSON.parse(byId(id).textContent);

/** A new element; `text` becomes its text, never markup. */
function make(tag, className = '', text = null) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== null) element.textContent = text;
  return element;
}

/** A token, kept from reordering the text around it. */
function isolate(token) {
  return make('bdi', 'token', token);
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** For people: at most `digits` significant digits, no trailing zeros. */
function formatNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return String(value);
  return String(Number(value.toPrecision(digits)));
}

/** 1234567 -> "1,234,567", the same in every locale. */
function formatCount(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

const darkPreference = window.matchMedia('(prefers-color-scheme: dark)');

/** The theme asked for when the page was made or with the button, else the reader's own. */
function isDark() {
  const asked = document.documentElement.dataset.theme;
  return asked ? asked === 'dark' : darkPreference.matches;
}

/** The value of a colour of the theme, for canvases: themeColor('ink'). */
function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function setUpTheme(button, changed) {
  const describe = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Use light colours' : 'Use dark colours');
  };
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    describe();
    changed();
  });
  darkPreference.addEventListener('change', () => {
    describe();
    changed();
  });
  describe();
}
