// What a model answers: confusion matrix, ROC and PR curves, reliability, by domain and class.
import { el, svg, note } from './dom.js';
import { percent, isNumber, short, cut } from './format.js';
import { sequential, paint, inkOf, seriesInk } from './colours.js';
import { choice, toolbar } from './controls.js';
import { frame, linePath, figure, roomOf } from './chart.js';
import { plainLegend } from './marks.js';
import { tipped } from './tooltip.js';
import { dataTable } from './table.js';

function modelOf(context) {
  const list = context.dataset.models || [];
  return list.find(model => model.row === context.state.insideRow);
}

function domainOf(model, state) {
  return model.domains.find(domain => domain.name === state.domain) || model.domains[0];
}

function domainChoice(context, model, domain) {
  return model.domains.length > 1 ? choice('Domain', model.domains.map(one => ({ value: one.name, text: one.name === 'all' ? 'all test domains' : one.name })), domain.name, name => context.change({ domain: name })) : null;
}

function missingModel(panel) {
  panel.append(note('This method has left no model, or its data was not at hand. Choose another one above.'));
}

export function drawConfusion(panel, context) {
  const model = modelOf(context);
  if (!model) return missingModel(panel);
  const domain = domainOf(model, context.state);
  const sums = domain.confusion.map(row => row.reduce((a, b) => a + b, 0));
  panel.append(toolbar(domainChoice(context, model, domain)));
  const share = (k, c) => (sums[k] ? domain.confusion[k][c] / sums[k] : 0);
  const head = el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'truth ↓ answer →'), model.labels.map(label => el('th', { scope: 'col' }, cut(label, 14))), el('th', { scope: 'col' }, 'items')));
  const body = el('tbody', {}, domain.confusion.map((row, k) => el('tr', {}, el('th', { scope: 'row' }, model.labels[k]),
    row.map((number, c) => {
      const cell = paint(el('td', {}, percent(100 * share(k, c)) + ' %', el('small', {}, number.toLocaleString('en'))), sequential(0.9 * share(k, c)));
      tipped(cell, () => [(k === c ? 'Right: ' : 'Wrong: ') + model.labels[k] + ' answered as ' + model.labels[c], number + ' of ' + sums[k] + ' items (' + percent(100 * share(k, c)) + ' %)']);
      return cell;
    }), el('td', {}, sums[k].toLocaleString('en')))));
  panel.append(el('div', { class: 'frame', tabindex: 0, role: 'region', 'aria-label': 'Confusion matrix' }, el('table', { class: 'confusion' }, el('caption', {}, 'Answers on ' + (domain.name === 'all' ? 'all test domains' : domain.name)), head, body)),
    note('Rows add up to 100 %. Seed ' + model.seed + ', ' + domain.items.toLocaleString('en') + ' items.'));
}

function unitFrame(width, about, xLabel, yLabel) {
  return frame({ width, height: Math.min(360, Math.round(width * 0.82)), x: { low: 0, high: 1, label: xLabel, grid: true, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] }, y: { low: 0, high: 1, label: yLabel, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] }, about });
}

export function drawRoc(panel, context) {
  const model = modelOf(context);
  if (!model) return missingModel(panel);
  const asked = domainOf(model, context.state);
  // Of many classes and domains the curves of all domains together are kept.
  const domain = asked.curves.length ? asked : model.domains[0];
  const bar = toolbar(domainChoice(context, model, domain));
  panel.append(bar);
  if (domain !== asked) panel.append(note('The page holds no curves of ' + asked.name + ' alone; these are of all test domains.'));
  if (!domain.curves.length) {
    panel.append(note('No curve here: ' + (model.labels.length > 10 ? 'there are too many classes.' : 'only one class occurs, or curves are kept for all domains together.')));
    return;
  }
  const classes = [{ value: undefined, text: 'all classes' }, ...domain.curves.map(curve => ({ value: curve.class, text: model.labels[curve.class] }))];
  if (domain.curves.length > 1) bar.append(choice('Class', classes, context.state.label, label => context.change({ label })));
  const shown = domain.curves.filter(curve => context.state.label === undefined || curve.class === context.state.label);
  const list = shown.length ? shown : domain.curves;
  const half = panel.clientWidth > 820;
  const width = half ? Math.min(560, Math.floor(panel.clientWidth / 2) - 12) : roomOf(panel, 560);
  const roc = unitFrame(width, 'ROC curves on ' + domain.name, 'false positive rate', 'true positive rate');
  const pr = unitFrame(width, 'Precision and recall on ' + domain.name, 'recall', 'precision');
  roc.plot.append(svg('line', { class: 'constant', x1: roc.sx(0), y1: roc.sy(0), x2: roc.sx(1), y2: roc.sy(1) }));
  for (const curve of list) {
    const ink = domain.curves.length === 1 ? inkOf(model.row) : seriesInk(curve.class);
    const name = model.labels[curve.class];
    const first = svg('path', { class: 'stroke ' + ink, d: linePath(curve.roc, roc.sx, roc.sy) });
    const second = svg('path', { class: 'stroke ' + ink, d: linePath(curve.pr, pr.sx, pr.sy) });
    tipped(first, () => [name, 'area under ROC ' + percent(curve.auc), curve.positives + ' items']);
    tipped(second, () => [name, 'average precision ' + percent(curve.ap), 'share of the class ' + percent((100 * curve.positives) / domain.items)]);
    roc.plot.append(first);
    pr.plot.append(second);
    const dot = (x, y) => tipped(svg('circle', { class: 'dot ' + ink, cx: x, cy: y, r: 6 }), () => [name + ': the model\'s own answer', 'true positives ' + percent(100 * curve.at.tpr) + ' %', 'false positives ' + percent(100 * curve.at.fpr) + ' %', 'precision ' + percent(100 * curve.at.precision) + ' %']);
    roc.plot.append(dot(roc.sx(curve.at.fpr), roc.sy(curve.at.tpr)));
    if (isNumber(curve.at.precision)) pr.plot.append(dot(pr.sx(curve.at.tpr), pr.sy(curve.at.precision)));
  }
  panel.append(el('div', { class: 'grid12' }, el('div', { class: half ? 'half' : 'all' }, figure('ROC', roc.root)), el('div', { class: half ? 'half' : 'all' }, figure('Precision and recall', pr.root))),
    list.length > 1 ? plainLegend(list.map(curve => ({ ink: seriesInk(curve.class), text: model.labels[curve.class], shape: 'line' }))) : '',
    dataTable({ caption: 'Each class against the others', rows: list, filter: false, csv: 'roc', columns: [
      { title: 'class', value: c => model.labels[c.class] }, { title: 'items', numeric: true, value: c => c.positives },
      { title: 'ROC-AUC', numeric: true, value: c => c.auc, cell: c => percent(c.auc) }, { title: 'average precision', numeric: true, value: c => c.ap, cell: c => percent(c.ap) },
    ] }),
    note('Dots: where the model\'s own answers lie. Dashed: an answer by chance. Seed ' + model.seed + '.'));
}

function reliabilityPicture(lines, width, about) {
  const picture = frame({ width, height: Math.min(380, Math.round(width * 0.85)), x: { low: 0, high: 100, label: 'confidence, percent', grid: true }, y: { low: 0, high: 100, label: 'accuracy, percent' }, about });
  picture.plot.append(svg('line', { class: 'constant', x1: picture.sx(0), y1: picture.sy(0), x2: picture.sx(100), y2: picture.sy(100) }));
  for (const line of lines) {
    const items = line.bins.reduce((sum, bin) => sum + bin.count, 0);
    const bins = line.bins.filter(bin => bin.count >= 0.005 * items);
    picture.plot.append(svg('path', { class: 'stroke ' + line.ink + (line.dashed ? ' dashed' : ''), d: linePath(bins.map(bin => [bin.confidence, bin.accuracy]), picture.sx, picture.sy) }));
    for (const bin of bins) {
      picture.plot.append(tipped(svg('circle', { class: 'dot ' + line.ink, cx: picture.sx(bin.confidence), cy: picture.sy(bin.accuracy), r: 3 + 6 * Math.sqrt(bin.count / items) }), () => [line.name, 'says ' + percent(bin.confidence) + ' %, is right in ' + percent(bin.accuracy) + ' %', bin.count.toLocaleString('en') + ' items']));
    }
  }
  return picture.root;
}

export function drawReliability(panel, context) {
  const { dataset, state } = context;
  const model = modelOf(context);
  const row = dataset.rows.find(one => one.name === state.insideRow);
  const width = roomOf(panel, 560);
  const bar = toolbar();
  panel.append(bar);
  let lines = [];
  if (model && (state.domain && state.domain !== 'all' || state.label !== undefined || !row?.calibration?.test)) {
    const domain = domainOf(model, state);
    const one = domain.reliability.find(r => r.class === (state.label ?? null)) || domain.reliability[0];
    lines = [{ name: model.row, ink: inkOf(model.row), bins: one.bins }];
    bar.after(note('Error ' + percent(one.ece) + ' points on ' + one.items.toLocaleString('en') + ' items of ' + (domain.name === 'all' ? 'all test domains' : domain.name) + (one.class === null ? '' : ' answered as ' + model.labels[one.class]) + ', seed ' + model.seed + '.'));
  } else if (row?.calibration?.test) {
    lines = [{ name: 'before the temperature', ink: 'grey', dashed: true, bins: row.calibration.test.bins_before }, { name: row.name, ink: inkOf(row.name), bins: row.calibration.test.bins }];
    bar.after(plainLegend([{ ink: inkOf(row.name), text: row.name, shape: 'line' }, { ink: 'grey', text: 'before the temperature', shape: 'dash' }]));
  }
  if (model) {
    const domain = domainOf(model, state);
    bar.append(domainChoice(context, model, domain) || '');
    const classes = [{ value: undefined, text: 'all classes' }, ...domain.reliability.filter(r => r.class !== null).map(r => ({ value: r.class, text: model.labels[r.class] }))];
    if (classes.length > 2) bar.append(choice('Answered as', classes, state.label, label => context.change({ label })));
  }
  const left = el('div', { class: 'half' });
  const right = el('div', { class: 'half' });
  panel.append(el('div', { class: 'grid12' }, left, right));
  if (lines.length) left.append(figure(null, reliabilityPicture(lines, Math.min(width, panel.clientWidth > 1000 ? panel.clientWidth / 2 - 12 : width), 'Accuracy over confidence of ' + state.insideRow)), note('On the dashed diagonal probabilities mean what they say. Larger dots hold more items.'));
  const rows = dataset.rows.filter(one => one.calibration);
  if (rows.length) {
    right.append(dataTable({ caption: 'Expected calibration error in percent, mean over runs', rows, csv: 'calibration', marked: one => one.name === state.insideRow, columns: [
      { title: 'method', value: r => r.name },
      { title: 'temperature', numeric: true, value: r => r.calibration.temperature, cell: r => short(r.calibration.temperature) },
      { title: 'validation', numeric: true, value: r => r.calibration.validation.after, cell: r => percent(r.calibration.validation.after) },
      { title: 'test before', numeric: true, value: r => r.calibration.test?.before, cell: r => percent(r.calibration.test?.before) },
      { title: 'test after', numeric: true, value: r => r.calibration.test?.after, cell: r => percent(r.calibration.test?.after) },
      { title: 'confidence', numeric: true, value: r => r.calibration.test?.confidence, cell: r => percent(r.calibration.test?.confidence) },
      { title: 'accuracy', numeric: true, value: r => r.calibration.test?.accuracy, cell: r => percent(r.calibration.test?.accuracy) },
    ] }), note('The temperature is fitted on validation after the choice; it changes no class. Under a shift it need not hold.'));
  }
}
