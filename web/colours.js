// One colour and one mark for each row name, the same on every page; scales of heat maps.

const COLOURS = 8; // --m0 to --m7 of style.css: Okabe and Ito's eight
const MARKS = ['circle', 'square', 'triangle', 'diamond', 'cross', 'down'];
const GRM = 0;
const ERM = 1;

function hash(text) {
  let value = 2166136261;
  for (const c of text) value = Math.imul(value ^ c.codePointAt(0), 16777619) >>> 0;
  return value;
}

const looks = new Map();

// Called once with all names of a document. GRM and ERM always have theirs; another name has what its
// hash says, or the next colour that is free.
export function assignLooks(names) {
  looks.clear();
  const taken = new Map(); // uses by colour
  const order = [...new Set(names)].sort();
  const take = (name, colour) => {
    const uses = taken.get(colour) || 0;
    taken.set(colour, uses + 1);
    looks.set(name, { colour, mark: MARKS[uses % MARKS.length] });
  };
  const first = base => order.find(name => name === base) || order.find(name => name.split(/[: ]/)[0] === base);
  const grm = first('grm'), erm = first('erm');
  if (grm) take(grm, GRM);
  if (erm) take(erm, ERM);
  for (const name of order) {
    if (looks.has(name)) continue;
    const wish = 2 + hash(name) % (COLOURS - 2);
    let best = wish;
    for (let k = 0; k < COLOURS - 2; k += 1) {
      const colour = 2 + (wish - 2 + k) % (COLOURS - 2);
      if ((taken.get(colour) || 0) < (taken.get(best) || 0)) best = colour;
    }
    take(name, best);
  }
}

export function lookOf(name) {
  return looks.get(name) || { colour: 2 + hash(name) % (COLOURS - 2), mark: 'circle' };
}

export function inkOf(name) {
  return 'm' + lookOf(name).colour;
}

// Classes and domains have colours of their own, by place.
export function seriesInk(place) {
  return 'm' + [5, 1, 3, 0, 7, 4, 2, 6][place % 8];
}

function channels(text) {
  return [1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16));
}

function luminance(rgb) {
  const linear = rgb.map(v => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

export function isDark() {
  return document.documentElement.dataset.theme === 'dark';
}

function mixed(from, to, share) {
  return from.map((v, k) => Math.round(v + (to[k] - v) * share));
}

// Background and ink of a cell: -1 orange, 0 as the page, 1 blue.
export function diverging(value) {
  const paper = channels(isDark() ? '#23272e' : '#f4f5f7');
  const end = channels(value < 0 ? (isDark() ? '#c8601f' : '#b5521b') : isDark() ? '#2f83c4' : '#1a5f9c');
  return painted(mixed(paper, end, Math.min(1, Math.abs(value))));
}

// 0 as the page, 1 purple: how much of something there is, good or bad.
export function sequential(value) {
  const paper = channels(isDark() ? '#23272e' : '#f4f5f7');
  const end = channels(isDark() ? '#a071c9' : '#6b3fa0');
  return painted(mixed(paper, end, Math.max(0, Math.min(1, value))));
}

function painted(rgb) {
  const light = luminance(rgb);
  const onWhite = 1.05 / (light + 0.05), onBlack = (light + 0.05) / 0.05;
  return { paper: 'rgb(' + rgb.join(',') + ')', ink: onWhite > onBlack ? '#ffffff' : '#000000' };
}

export function paint(node, look) {
  node.style.backgroundColor = look.paper;
  node.style.color = look.ink;
  return node;
}
