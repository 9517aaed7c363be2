// Methods against each other: dots with intervals, a table, and paired differences of any two rows.
import { el, svg, note, folded } from './dom.js';
import { signed, scaleOf, duration, memory, isNumber, cut, count } from './format.js';
import { inkOf } from './colours.js';
import { markAt, rowName } from './marks.js';
import { frame, extent, figure, roomOf } from './chart.js';
import { choice, button } from './controls.js';
import { tipped } from './tooltip.js';
import { dataTable } from './table.js';
import { intervalOf, pairedDifference } from './statistics.js';
import { bestConstant } from './view_answer.js';

// Rows {name, score, runs} as dots with 95 % intervals; `constant` is a dashed line.
function dotChart({ rows, constant, width, range, about, text, names = true }) {
  const left = names ? Math.min(190, width * 0.38) : 14, height = rows.length * 26 + 34;
  const picture = frame({ width, height, left, right: 14, top: 4, bottom: 30, about, x: { low: range[0], high: range[1], grid: true }, y: { low: 0, high: 1, ticks: [] } });
  const keep = v => Math.max(picture.left, Math.min(picture.right, picture.sx(v)));
  if (isNumber(constant)) picture.plot.append(svg('line', { class: 'constant', x1: keep(constant), x2: keep(constant), y1: picture.top, y2: picture.bottom }));
  rows.forEach((row, k) => {
    const y = picture.top + 14 + k * 26;
    const interval = intervalOf(row.score, row.runs);
    const group = svg('g', { class: inkOf(row.name), tabindex: -1 });
    if (names) group.append(svg('text', { class: 'name', x: left - 10, y: y + 4, 'text-anchor': 'end' }, cut(row.name, Math.floor(left / 7.2))));
    if (interval) group.append(svg('line', { class: 'stroke ' + inkOf(row.name), x1: keep(interval.low), x2: keep(interval.high), y1: y, y2: y }));
    group.append(svg('rect', { x: picture.left, y: y - 13, width: picture.right - picture.left, height: 26, fill: 'transparent' }), markAt(row.name, picture.sx(row.score.mean), y));
    tipped(group, () => text(row, interval));
    picture.plot.append(group);
  });
  return picture.root;
}

function scoreLines(dataset, row, interval) {
  const scale = scaleOf(dataset);
  return [row.name, dataset.metric_name + ' ' + scale.score(row.score, row.runs), interval ? '95 % from ' + scale.text(interval.low) + ' to ' + scale.text(interval.high) : 'one run', count(row.runs, 'run')];
}

// Wide intervals of percents are cut, so that the dots stay apart.
function rangeOf(rows, constant, { errors }) {
  const room = errors ? Infinity : 20;
  return extent([...rows.flatMap(row => {
    const interval = intervalOf(row.score, row.runs);
    return interval ? [Math.max(interval.low, row.score.mean - room), Math.min(interval.high, row.score.mean + room), row.score.mean] : [row.score.mean];
  }), constant].filter(isNumber), 0.06);
}

function averages(context, rows) {
  const { dataset } = context, scale = scaleOf(dataset);
  const box = el('div', { class: 'card' }, el('h3', {}, 'All test domains: ' + scale.title));
  const list = [...rows].sort((a, b) => scale.gain(b.avg.mean, a.avg.mean)).map(row => ({ name: row.name, score: row.avg, runs: row.runs }));
  const constant = bestConstant(dataset)?.avg;
  queueMicrotask(() => {
    box.append(dotChart({ rows: list, constant, width: roomOf(box, 1300) - 40, range: rangeOf(list, constant, scale), about: 'Average score of every row with its 95 % interval', text: (row, interval) => scoreLines(dataset, row, interval) }),
      note('Lines: 95 % interval of the mean over seeds. Dashed: the best constant answer.'));
  });
  return box;
}

function multiples(context, rows) {
  const { dataset } = context, scale = scaleOf(dataset);
  const box = el('div', { class: 'multiples gap-above' });
  const order = [...rows].sort((a, b) => scale.gain(b.avg.mean, a.avg.mean));
  const shown = dataset.domains.slice(0, 24);
  queueMicrotask(() => shown.forEach((name, k) => {
    const list = order.filter(row => row.scores[k]).map(row => ({ name: row.name, score: row.scores[k], runs: row.runs }));
    if (!list.length) return;
    const constant = scale.best(dataset.constants.map(one => one.scores[k]).filter(isNumber));
    const one = figure(name);
    box.append(one);
    one.append(dotChart({ rows: list, constant, width: Math.max(180, one.clientWidth - 22), range: rangeOf(list, constant, scale), about: 'Scores on ' + name, names: rows.length <= 8, text: (row, interval) => scoreLines(dataset, row, interval) }));
  }));
  return box;
}

function scoreCell({ text }, score, runs) {
  if (!score) return '–';
  return el('span', {}, text(score.mean), runs > 1 ? el('span', { class: 'dev' }, ' ± ' + text(score.std)) : null);
}

function testMark(row) {
  if (!row.mark) return null;
  return el('span', { class: row.mark > 0 ? 'up' : 'down' }, row.mark > 0 ? ' ▲' : ' ▼', el('span', { class: 'hidden-text' }, row.mark > 0 ? 'significantly better than ' + row.against : 'significantly worse than ' + row.against));
}

function scoreTable(context, rows) {
  const { dataset } = context, scale = scaleOf(dataset);
  const domains = dataset.domains.length <= 12 ? dataset.domains.map((name, k) => ({
    title: name, numeric: true, value: r => (r.total ? r.scores[k] : r.scores[k]?.mean),
    cell: r => (r.total ? scale.text(r.scores[k]) : scoreCell(scale, r.scores[k], r.runs)),
  })) : [];
  const totals = dataset.constants.map(one => ({ total: true, name: one.name, scores: one.scores, avg: one.avg, min: one.min }));
  return dataTable({
    caption: dataset.name + ', ' + scale.title, rows, totals, csv: 'scores', sort: { column: 1, down: !scale.errors },
    marked: row => row.name === dataset.chosen,
    columns: [
      { title: 'method', value: r => r.name, cell: r => (r.total ? r.name : [rowName(r.name), r.name === dataset.chosen ? el('span', { class: 'tag chosen' }, 'chosen') : null, r.transductive ? el('span', { class: 'tag' }, 'transductive') : null]) },
      { title: 'Avg', numeric: true, value: r => (r.total ? r.avg : r.avg?.mean), cell: r => (r.total ? scale.text(r.avg) : [scoreCell(scale, r.avg, r.runs), testMark(r)]) },
      { title: 'Min', numeric: true, value: r => (r.total ? r.min : r.min?.mean), cell: r => (r.total ? scale.text(r.min) : scoreCell(scale, r.min, r.runs)) },
      { title: 'validation', numeric: true, value: r => r.validation?.mean, cell: r => (r.total ? '' : scoreCell(scale, r.validation, r.runs)) },
      ...domains,
      { title: 'p', numeric: true, about: 'paired t-test of the averages against ' + (context.document.against || 'nothing'), value: r => r.test?.p, cell: r => (isNumber(r.test?.p) ? r.test.p.toFixed(3) : '') },
      { title: 'runs', numeric: true, value: r => r.runs, cell: r => (r.total ? '' : r.runs < r.expected ? r.runs + '/' + r.expected : r.runs) },
      { title: 'time', numeric: true, value: r => r.cost?.train_seconds, cell: r => (r.total ? '' : duration(r.cost.train_seconds)) },
      { title: 'memory', numeric: true, value: r => r.cost?.peak_mib, cell: r => (r.total ? '' : memory(r.cost.peak_mib)) },
    ],
  });
}

// Every test domain and the average: a - b of runs that share a seed.
function differenceChart(dataset, a, b, width) {
  const lines = [{ name: 'average', ...pairedDifference(a, b, run => run.avg) },
    ...dataset.domains.slice(0, 30).map((name, k) => ({ name, ...pairedDifference(a, b, run => run.scores[k]) }))].filter(line => isNumber(line.mean));
  if (!lines.length) return note('These two have no seed in common.');
  const scale = scaleOf(dataset), room = scale.errors ? Infinity : 25;
  const better = line => (scale.gain(line.mean, 0) < 0 ? b.name : a.name);
  const range = extent([0, ...lines.flatMap(line => [line.mean, isNumber(line.low) ? Math.max(line.low, line.mean - room) : line.mean, isNumber(line.high) ? Math.min(line.high, line.mean + room) : line.mean])], 0.08);
  const left = Math.min(150, width * 0.34), height = lines.length * 24 + 34;
  const picture = frame({ width, height, left, right: 14, top: 4, bottom: 30, about: `${a.name} minus ${b.name}, by domain`, x: { low: range[0], high: range[1], grid: true, text: v => scale.errors ? scale.difference(v) : signed(v, 0) === '0' ? '0' : signed(v, Math.abs(range[1] - range[0]) < 6 ? 1 : 0) }, y: { low: 0, high: 1, ticks: [] } });
  const keep = v => Math.max(picture.left, Math.min(picture.right, picture.sx(v)));
  picture.plot.append(svg('line', { class: 'constant', x1: picture.sx(0), x2: picture.sx(0), y1: picture.top, y2: picture.bottom }));
  lines.forEach((line, k) => {
    const y = picture.top + 12 + k * 24;
    const ink = inkOf(better(line));
    const group = svg('g', {}, svg('text', { class: 'name', x: left - 10, y: y + 4, 'text-anchor': 'end' }, cut(line.name, Math.floor(left / 7.2))),
      svg('rect', { x: picture.left, y: y - 12, width: picture.right - picture.left, height: 24, fill: 'transparent' }));
    if (isNumber(line.low)) group.append(svg('line', { class: 'stroke ' + ink, x1: keep(line.low), x2: keep(line.high), y1: y, y2: y }));
    group.append(markAt(better(line), picture.sx(line.mean), y, k === 0 ? 6 : 4.5));
    tipped(group, () => [line.name + ': ' + scale.difference(line.mean) + ' ' + scale.unit, isNumber(line.low) ? '95 % from ' + scale.difference(line.low) + ' to ' + scale.difference(line.high) : 'one pair', count(line.n, 'pair') + ' of runs']);
    picture.plot.append(group);
  });
  return picture.root;
}

function pairs(context, rows) {
  const { dataset, state } = context;
  const names = rows.map(row => row.name);
  const a = rows.find(row => row.name === (state.row || dataset.chosen)) || rows[0];
  const b = rows.find(row => row.name === state.other && row !== a) || rows.find(row => row !== a && row.method === context.document.against) || rows.find(row => row !== a);
  const box = el('div', { class: 'card' }, el('h3', {}, 'Paired differences'),
    el('div', { class: 'toolbar' }, choice('First', names, a.name, row => context.change({ row })), choice('minus', names.filter(name => name !== a.name), b.name, other => context.change({ other }))));
  queueMicrotask(() => {
    box.append(differenceChart(dataset, a, b, roomOf(box, 760) - 40), note('Runs of one seed are paired. An interval that holds 0 tells no difference.'));
  });
  return box;
}

export const methods = {
  id: 'methods',
  title: 'Methods against each other',
  short: 'Methods',
  uses: ['dataset', 'row', 'other', 'multiples'],
  has: context => context.document.sections.includes('domains'),
  draw(root, context) {
    const rows = context.dataset.rows.filter(row => row.avg);
    if (!rows.length) {
      root.append(note('No test scores yet.'));
      return;
    }
    const left = averages(context, rows);
    left.classList.add(rows.length > 1 ? 'seven' : 'all');
    const right = rows.length > 1 ? pairs(context, rows) : null;
    right?.classList.add('five');
    root.append(el('div', { class: 'grid12' }, left, right, el('div', { class: 'card' }, scoreTable(context, context.dataset.rows.filter(row => row.runs > 0)))));
    const open = context.state.multiples;
    if (context.dataset.domains.length > 1) {
      root.append(el('div', { class: 'toolbar gap-above' }, button(open ? 'Hide the domains one by one' : 'Show the domains one by one', () => context.change({ multiples: !open }), { 'aria-expanded': String(!!open) })));
      if (open) root.append(multiples(context, rows));
    }
  },
};

export const published = {
  id: 'published',
  title: 'Beside published values',
  short: 'Published',
  uses: ['dataset'],
  has: context => context.document.datasets.some(dataset => dataset.published),
  draw(root, context) {
    const data = context.dataset.published;
    if (!data) {
      root.append(note('Nothing is published for ' + context.dataset.name + '.'));
      return;
    }
    root.append(el('div', { class: 'card' }, dataTable({
      caption: 'Ours minus published, percentage points', rows: data.values, csv: 'published',
      columns: [
        { title: 'method', value: r => r.row, cell: r => rowName(r.row) },
        { title: 'options', value: r => r.block },
        { title: 'score', value: r => r.score },
        { title: 'ours', numeric: true, value: r => r.ours.mean, cell: r => r.ours_text },
        { title: 'published', numeric: true, value: r => r.published.value, cell: r => r.published_text },
        { title: 'difference', numeric: true, value: r => r.difference, cell: r => signed(r.difference) },
        { title: 'runs', numeric: true, value: r => r.runs },
      ],
    }), note('Published: ' + data.source + '.'), data.notes.length ? folded('Notes', el('ul', { class: 'words-list' }, data.notes.map(text => el('li', {}, text)))) : null));
  },
};
