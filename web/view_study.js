// A study: which of its cells are done, and the trials of its search as parallel coordinates.
import { el, svg, note, folded } from './dom.js';
import { scaleOf, short, count, duration, isNumber, cut } from './format.js';
import { choice } from './controls.js';
import { rowName } from './marks.js';
import { roomOf, figure, extent } from './chart.js';
import { tipped } from './tooltip.js';
import { dataTable } from './table.js';

const STATES = { done: 'done', running: 'running', todo: 'to do', failed: 'failed', no_data: 'data missing' };

function stateGrid(study) {
  const datasets = [...new Set(study.cells.map(cell => cell.dataset))];
  const rows = [...new Set(study.cells.map(cell => cell.row))];
  const cellsOf = (row, dataset) => study.cells.filter(cell => cell.row === row && cell.dataset === dataset);
  return dataTable({
    caption: 'Cells by method and dataset', rows, csv: 'cells',
    columns: [
      { title: 'method', value: row => row, cell: rowName },
      ...datasets.map(dataset => ({
        title: dataset, value: row => cellsOf(row, dataset).filter(cell => cell.state === 'done').length + '/' + cellsOf(row, dataset).length,
        cell: row => {
          const cells = cellsOf(row, dataset);
          const marks = el('span', { class: 'cells', 'aria-hidden': 'true' }, cells.slice(0, 40).map(cell => tipped(el('i', { class: 'state-' + cell.state }), () => [cell.row + ' on ' + cell.dataset, (cell.phase === 'trial' ? 'trial ' + cell.trial + ', ' : '') + 'seed ' + cell.seed + ': ' + (STATES[cell.state] || cell.state), cell.seconds ? duration(cell.seconds) : '', cell.message || ''].filter(Boolean))));
          return el('span', {}, marks, ' ' + cells.filter(cell => cell.state === 'done').length + '/' + cells.length);
        },
      })),
    ],
  });
}

// An axis for each option that was searched, the last one for the validation score.
function parallel(search, scale, width) {
  const trials = search.trials.filter(trial => isNumber(trial.validation));
  const height = 320, top = 34, bottom = 300, left = 50, right = 60;
  const axes = [...search.options.map((name, k) => ({ name, of: trial => trial.values[k] })), { name: 'validation', of: trial => trial.validation }];
  const root = svg('svg', { class: 'chart parallel', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': 'Trials of the search for ' + search.row + ' as parallel coordinates' });
  axes.forEach((axis, k) => {
    axis.x = axes.length > 1 ? left + (k * (width - left - right)) / (axes.length - 1) : left;
    const values = trials.map(axis.of);
    if (values.every(isNumber)) {
      const log = Math.min(...values) > 0 && Math.max(...values) > 30 * Math.min(...values);
      const [low, high] = log ? [Math.min(...values), Math.max(...values)] : extent(values, 0.02);
      const place = log ? v => Math.log(v / low) / Math.log(high / low) : v => (v - low) / (high - low);
      axis.y = v => bottom - place(v) * (bottom - top);
      axis.marks = [low, high];
    } else {
      const words = [...new Set(values.map(String))].sort();
      axis.y = v => (words.length > 1 ? bottom - (words.indexOf(String(v)) * (bottom - top)) / (words.length - 1) : (top + bottom) / 2);
      axis.marks = words.slice(0, 12);
    }
    root.append(svg('line', { class: 'axis', x1: axis.x, x2: axis.x, y1: top, y2: bottom }),
      svg('text', { class: 'name', x: axis.x, y: 16, 'text-anchor': 'middle' }, cut(axis.name.replace(/^method\./, ''), 16)),
      ...axis.marks.map(mark => svg('text', { x: axis.x + 5, y: axis.y(mark) + 4 }, isNumber(mark) ? short(mark) : cut(mark, 12))));
  });
  const best = [...trials].sort((a, b) => scale.gain(b.validation, a.validation)).slice(0, 5);
  for (const trial of [...trials].sort((a, b) => a.chosen - b.chosen || best.includes(a) - best.includes(b))) {
    const line = svg('path', { class: 'trial' + (trial.chosen ? ' chosen' : best.includes(trial) ? ' good' : ''), d: axes.map((axis, k) => (k ? 'L' : 'M') + axis.x.toFixed(1) + ',' + axis.y(axis.of(trial)).toFixed(1)).join('') });
    tipped(line, () => ['trial ' + trial.trial + (trial.chosen ? ', chosen' : '') + ': ' + scale.text(trial.validation), ...search.options.map((name, k) => name + ' = ' + (isNumber(trial.values[k]) ? short(trial.values[k]) : trial.values[k]))]);
    root.append(line);
  }
  return root;
}

function searchCard(context, study) {
  const list = study.search.filter(search => search.trials.length > 1);
  if (!list.length) return null;
  const key = search => search.row + ' on ' + search.dataset;
  const current = list.find(search => key(search) === context.state.search) || list[0];
  const scale = scaleOf(context.document.datasets.find(one => one.name === current.dataset) || {});
  const box = el('div', { class: 'card gap-above' }, el('h3', {}, 'Search'), el('div', { class: 'toolbar' }, choice('Of', list.map(key), key(current), search => context.change({ search }))));
  queueMicrotask(() => {
    if (current.trials.some(trial => isNumber(trial.validation))) box.append(figure('Trials, by what they set and what validation says', parallel(current, scale, roomOf(box, 1300) - 40)), note('Orange: chosen. Blue: the five best on validation.'));
    box.append(el('div', { class: 'gap-above' }), dataTable({ caption: 'Trials of ' + key(current), rows: current.trials, csv: 'trials', sort: { column: current.options.length + 1, down: !scale.errors }, marked: trial => trial.chosen, columns: [
      { title: 'trial', numeric: true, value: t => t.trial },
      ...current.options.map((name, k) => ({ title: name, numeric: isNumber(current.trials[0].values[k]), value: t => t.values[k] })),
      { title: 'validation', numeric: true, value: t => t.validation, cell: t => scale.text(t.validation) },
      { title: 'runs', numeric: true, value: t => t.runs }, { title: 'state', value: t => STATES[t.state] || t.state },
    ] }));
  });
  return box;
}

export const study = {
  id: 'study',
  title: 'The study',
  short: 'Study',
  uses: ['search'],
  has: context => !!context.document.study,
  draw(root, context) {
    const data = context.document.study;
    root.append(el('div', { class: 'card' },
      el('div', { class: 'states' }, Object.entries(data.states).map(([state, number]) => el('span', {}, el('span', { class: 'cells' }, el('i', { class: 'state-' + state, 'aria-hidden': 'true' })), number + ' ' + (STATES[state] || state)))),
      stateGrid(data), folded('Every cell', dataTable({ caption: 'Cells', rows: data.cells, csv: 'cells', columns: [
        { title: 'method', value: c => c.row }, { title: 'dataset', value: c => c.dataset }, { title: 'phase', value: c => c.phase }, { title: 'trial', numeric: true, value: c => c.trial }, { title: 'seed', numeric: true, value: c => c.seed },
        { title: 'state', value: c => STATES[c.state] || c.state }, { title: 'time', numeric: true, value: c => c.seconds, cell: c => duration(c.seconds) }, { title: 'message', value: c => c.message || '' },
      ] }))));
    const search = searchCard(context, data);
    if (search) root.append(search);
  },
};
