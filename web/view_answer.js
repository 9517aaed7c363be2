// The answer first: which row, how sure, where it is worst, what it costs, and what speaks against it.
import { el, svg, folded } from './dom.js';
import { percent, scaleOf, duration, memory, count, isNumber } from './format.js';
import { inkOf } from './colours.js';
import { swatch, rowName } from './marks.js';
import { intervalOf, pairedDifference } from './statistics.js';
import { dataTable } from './table.js';

function keyFigure(value, unit, what, first) {
  return el('div', { class: 'key' + (first ? ' first ' + first : '') },
    el('div', { class: 'value' }, value, unit ? el('small', {}, ' ' + unit) : null),
    el('div', { class: 'what' }, what));
}

export function chosenRow(dataset) {
  return dataset.rows.find(row => row.name === dataset.chosen) || dataset.rows[0] || null;
}

// The constant answer that is hardest to beat.
export function bestConstant(dataset) {
  const { gain } = scaleOf(dataset);
  return dataset.constants.reduce((best, one) => (!best || gain(one.avg, best.avg) > 0 ? one : best), null);
}

function overReference(dataset, row, against) {
  const other = dataset.rows.find(one => one !== row && one.method === against && one.avg);
  if (!other || row.method === against) return null;
  const difference = pairedDifference(row, other, run => run.avg);
  const value = difference ? difference.mean : row.avg.mean - other.avg.mean;
  const scale = scaleOf(dataset);
  const range = difference && isNumber(difference.low) ? ', 95 % from ' + scale.difference(difference.low) + ' to ' + scale.difference(difference.high) : '';
  return keyFigure(scale.difference(value), scale.unit, scale.against + other.name + range);
}

function keyFigures(document_, dataset, row) {
  const parts = [], scale = scaleOf(dataset);
  if (row.avg) {
    const range = intervalOf(row.avg, row.runs);
    parts.push(keyFigure(scale.text(row.avg.mean), row.runs > 1 ? '± ' + scale.text(row.avg.std) : '',
      dataset.metric_name + ' on ' + count(dataset.domains.length, 'unseen domain') +
        (range ? ', 95 % from ' + scale.text(range.low) + ' to ' + scale.text(range.high) : ', one run'), inkOf(row.name)));
    if (dataset.domains.length > 1) parts.push(keyFigure(scale.text(row.min.mean), row.min.domain.length < 14 ? row.min.domain : '', 'worst domain' + (row.min.domain.length < 14 ? '' : ', ' + row.min.domain)));
    const reference = overReference(dataset, row, document_.against);
    if (reference) parts.push(reference);
    const constant = bestConstant(dataset);
    if (constant) parts.push(keyFigure(scale.difference(row.avg.mean - constant.avg), scale.unit, scale.against + constant.about));
  }
  const calibration = row.calibration && row.calibration.test;
  if (calibration) parts.push(keyFigure(percent(calibration.after), 'points', 'calibration error on test, ' + percent(row.calibration.validation.after) + ' on validation'));
  parts.push(keyFigure(duration(row.cost.train_seconds), '', 'to train a run, ' + memory(row.cost.peak_mib)));
  return parts;
}

function doubtBox(doubts) {
  return el('div', { class: 'doubt' },
    svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('circle', { cx: 12, cy: 12, r: 10 }), svg('path', { d: 'M12 7v6M12 16.5v.5' })),
    el('div', {}, doubts.slice(0, 3).map(text => el('p', {}, text))));
}

function allDatasets(context) {
  const list = context.document.datasets;
  return dataTable({
    caption: 'What validation chooses on every dataset',
    csv: 'datasets',
    rows: list,
    marked: dataset => dataset === context.dataset,
    columns: [
      { title: 'dataset', value: d => d.name },
      { title: 'chosen', value: d => d.chosen, cell: d => (d.chosen ? rowName(d.chosen) : '–') },
      { title: 'metric', value: d => d.metric_name },
      { title: 'Avg', numeric: true, value: d => chosenRow(d)?.avg?.mean, cell: d => scaleOf(d).score(chosenRow(d)?.avg, chosenRow(d)?.runs) },
      { title: 'Min', numeric: true, value: d => chosenRow(d)?.min?.mean, cell: d => scaleOf(d).score(chosenRow(d)?.min, chosenRow(d)?.runs) },
      { title: 'against constant', numeric: true, value: d => (chosenRow(d)?.avg && bestConstant(d) ? chosenRow(d).avg.mean - bestConstant(d).avg : null),
        cell: d => (chosenRow(d)?.avg && bestConstant(d) ? scaleOf(d).difference(chosenRow(d).avg.mean - bestConstant(d).avg) : '–') },
    ],
  });
}

export const answer = {
  id: 'answer',
  title: 'Answer',
  uses: ['dataset'],
  draw(root, context) {
    const { document: data, dataset } = context;
    const row = chosenRow(dataset);
    if (!row) {
      root.append(el('div', { class: 'card' }, 'No run has a result yet.'));
    } else {
      const candidates = dataset.rows.filter(one => one.runs > 0).length;
      root.append(el('div', { class: 'card answer' },
        el('div', { class: 'who' },
          el('span', { class: 'label' }, candidates > 1 ? 'On ' + dataset.name + ', of ' + candidates + ' candidates validation chooses' : 'On ' + dataset.name),
          el('span', { class: 'name' }, swatch(row.name), el('span', {}, row.name))),
        el('div', { class: 'figures-row' }, keyFigures(data, dataset, row)),
        dataset.doubts.length ? doubtBox(dataset.doubts) : null,
        dataset.verdict ? folded('The answer in words', el('p', { class: 'verdict' }, dataset.verdict)) : null));
    }
    if (data.datasets.length > 1) root.append(el('div', { class: 'card gap-above' }, allDatasets(context)));
    if (data.notes.length) {
      root.append(folded('Notes on the data (' + data.notes.length + ')', el('ul', { class: 'words-list' }, data.notes.map(text => el('li', {}, text)))));
    }
    if (data.missing.length) {
      root.append(folded(count(data.missing.length, 'run') + ' without a result', dataTable({
        caption: 'Runs without a result', rows: data.missing, csv: 'missing',
        columns: [
          { title: 'dataset', value: r => r.dataset }, { title: 'method', value: r => r.method }, { title: 'options', value: r => r.variant },
          { title: 'seed', numeric: true, value: r => r.seed }, { title: 'reason', value: r => r.reason },
        ],
      })));
    }
  },
};
