// Where it holds and where it breaks: domains by rows, the shift of each on the same rows.
import { el, note } from './dom.js';
import { signed, scaleOf, isNumber, mean, short } from './format.js';
import { diverging, sequential, paint } from './colours.js';
import { swatch, rowName } from './marks.js';
import { tipped } from './tooltip.js';
import { dataTable } from './table.js';
import { button } from './controls.js';

const MEASURES = ['features', 'degrees', 'sizes', 'labels', 'homophily'];

function constantOf(dataset, k) {
  const known = dataset.constants.map(one => one.scores[k]).filter(isNumber);
  return known.length ? scaleOf(dataset).best(known) : 0;
}

// Hardest first: least above the constant answer, over all rows.
function byDifficulty(dataset) {
  const { gain } = scaleOf(dataset);
  const ease = k => gain(mean(dataset.rows.map(row => row.scores[k]?.mean).filter(isNumber)), constantOf(dataset, k));
  return dataset.domains.map((name, k) => ({ name, k, ease: ease(k) })).sort((a, b) => a.ease - b.ease);
}

function shiftOf(dataset, name) {
  return dataset.shift?.domains.find(domain => domain.role === 'test' && domain.name === name);
}

function shiftCell(measure, largest) {
  if (!measure) return el('td', {}, el('span', { class: 'cell' }, '–'));
  const cell = paint(el('span', { class: 'cell', tabindex: -1 }, short(measure.value)), sequential(largest > 0 ? (0.85 * measure.value) / largest : 0));
  tipped(cell, () => [measure.what + ' ' + short(measure.value), measure.level === 'none' ? 'within chance (' + short(measure.chance) + ')' : measure.level + ' shift; chance reaches ' + short(measure.chance)]);
  return el('td', {}, cell);
}

function heatTable(context, rows, domains) {
  const { dataset, state } = context, scale = scaleOf(dataset);
  const over = (row, k) => (row.scores[k] ? scale.gain(row.scores[k].mean, constantOf(dataset, k)) : null);
  const widest = Math.max(scale.errors ? Number.MIN_VALUE : 5, ...rows.flatMap(row => dataset.domains.map((_, k) => Math.abs(over(row, k) ?? 0))));
  const measures = MEASURES.filter(what => dataset.shift?.domains.some(domain => domain.measures.some(m => m.what === what)));
  const measureOf = (name, what) => shiftOf(dataset, name)?.measures.find(m => m.what === what);
  const largest = Object.fromEntries(measures.map(what => [what, Math.max(...dataset.shift.domains.flatMap(d => d.measures.filter(m => m.what === what).map(m => m.value)))]));
  const head = el('tr', {}, el('th', { scope: 'col' }, 'domain'),
    rows.map(row => el('th', { scope: 'col' }, swatch(row.name), ' ', row.name, row.name === dataset.chosen ? el('span', { class: 'tag chosen' }, 'chosen') : null)),
    measures.length ? [el('td', { class: 'gap' }), measures.map(what => el('th', { scope: 'col' }, 'shift of ' + what))] : null);
  const body = domains.map(({ name, k }) => el('tr', {}, el('th', { scope: 'row', title: name }, name),
    rows.map(row => {
      const value = over(row, k);
      if (value === null) return el('td', {}, el('span', { class: 'cell' }, '–'));
      const pressed = state.cell && state.cell.row === row.name && state.cell.domain === name;
      const cell = paint(el('button', {
        type: 'button', 'aria-pressed': String(!!pressed), 'data-focus': 'cell ' + row.name + ' ' + name,
        'aria-label': `${row.name} on ${name}: ${scale.text(row.scores[k].mean)}, ${scale.difference(value)} ${scale.gained} the constant answer`,
        onclick: () => context.change({ cell: pressed ? undefined : { row: row.name, domain: name }, row: row.name, domain: name }),
      }, scale.difference(value)), diverging(value / widest));
      tipped(cell, () => [row.name + ' on ' + name, dataset.metric_name + ' ' + scale.score(row.scores[k], row.runs), 'constant answer ' + scale.text(constantOf(dataset, k)), scale.difference(value) + ' ' + scale.gained + ' it']);
      return el('td', {}, cell);
    }),
    measures.length ? [el('td', { class: 'gap' }), measures.map(what => shiftCell(measureOf(name, what), largest[what]))] : null));
  return { table: el('table', { class: 'heat' }, el('thead', {}, head), el('tbody', {}, body)), widest, measures };
}

function scaleBar(widest, scale) {
  const steps = [-1, -0.66, -0.33, 0, 0.33, 0.66, 1];
  return el('div', { class: 'scale-bar', 'aria-hidden': 'true' }, scale.errors ? scale.difference(-widest) : signed(-widest, 0),
    steps.map(v => paint(el('i', {}), diverging(v))), (scale.errors ? scale.difference(widest) : signed(widest, 0)) + ' ' + scale.gained + ' the constant answer');
}

// The runs behind a cell.
function details(context) {
  const { dataset, state } = context;
  const row = state.cell && dataset.rows.find(one => one.name === state.cell.row);
  const k = row ? dataset.domains.indexOf(state.cell.domain) : -1;
  if (k < 0) return null;
  const { text } = scaleOf(dataset);
  const shift = shiftOf(dataset, state.cell.domain);
  return el('div', { class: 'card gap-above', role: 'region', 'aria-label': 'The chosen cell' },
    el('h3', {}, rowName(row.name), ' on ' + state.cell.domain),
    shift ? el('p', {}, shift.text) : null,
    dataTable({
      caption: 'Runs', rows: row.each, filter: false, csv: 'runs',
      columns: [
        { title: 'seed', numeric: true, value: r => r.seed },
        { title: state.cell.domain, numeric: true, value: r => r.scores[k], cell: r => text(r.scores[k]) },
        { title: 'Avg', numeric: true, value: r => r.avg, cell: r => text(r.avg) },
        { title: 'validation', numeric: true, value: r => r.validation, cell: r => text(r.validation) },
        { title: 'epoch', numeric: true, value: r => r.epoch },
        { title: 'folder', value: r => r.folder },
      ],
    }),
    el('div', { class: 'toolbar gap-above' }, button('Its answers and curves', () => {
      context.change({ row: row.name, domain: state.cell.domain });
      document.getElementById('inside')?.scrollIntoView();
    })));
}

export const domains = {
  id: 'domains',
  title: 'Where it holds and where it breaks',
  short: 'Domains',
  uses: ['dataset', 'cell', 'all'],
  has: context => context.document.sections.includes('domains'),
  draw(root, context) {
    const { dataset, state } = context;
    const rows = dataset.rows.filter(row => row.avg);
    if (!rows.length) {
      root.append(note('No run on ' + dataset.name + ' has test scores.'));
      return;
    }
    const order = byDifficulty(dataset);
    const shown = state.all ? order : order.slice(0, 16);
    const { table, widest, measures } = heatTable(context, rows, shown);
    root.append(el('div', { class: 'card' },
      el('div', { class: 'frame', tabindex: 0, role: 'region', 'aria-label': 'Scores by domain and method' }, table),
      order.length > 16 ? el('div', { class: 'toolbar gap-above' }, button(state.all ? 'Show the hardest 16' : 'Show all ' + order.length + ' domains', () => context.change({ all: !state.all }))) : null,
      scaleBar(widest, scaleOf(dataset)),
      note('Hardest domain first. ' + (measures.length ? 'On the right, how far each domain lies from training; the stronger the colour, the farther. ' : '') + 'Choose a cell for its runs.')));
    const below = details(context);
    if (below) root.append(below);
  },
};
