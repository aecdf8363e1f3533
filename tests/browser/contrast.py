"""The contrast of every text that is seen with what is behind it, for run_js: [texts looked at, those below 4.5:1]."""

CONTRAST = """
const parse = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
const rgba = (text) => { const c = parse(text); return c.length > 3 ? c : [...c, 1]; };
const light = (c) => { const l = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2]; };
const ground = (e) => { if (!e) return [255, 255, 255]; return over(rgba(getComputedStyle(e).backgroundColor), ground(e.parentElement)); };
const bad = [];
let count = 0;
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility({visibilityProperty: true, opacityProperty: true}) || e.closest('.unseen, legend, template, script, option')) continue;
  const behind = ground(e), a = light(over(rgba(getComputedStyle(e).color), behind)), b = light(behind);
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  ++count;
  if (ratio < 4.5) bad.push(`${e.localName}#${e.id}.${e.className} ${e.textContent.slice(0, 20)}: ${ratio.toFixed(2)}`);
}
return [count, bad];"""
