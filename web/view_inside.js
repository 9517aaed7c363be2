// Inside a model: curves, confusion, ROC and PR, reliability, embedding.
import { el, note } from './dom.js';
import { choice, tabs } from './controls.js';
import { drawCurves } from './view_curves.js';
import { drawConfusion, drawRoc, drawReliability } from './view_answers.js';
import { drawEmbedding } from './view_embedding.js';

function curveRows(context) {
  return context.document.curves.filter(curve => curve.dataset === context.dataset.name).map(curve => curve.row);
}

function modelRows(context) {
  return (context.dataset.models || []).map(model => model.row);
}

function parts(context) {
  const { dataset } = context;
  const list = [];
  if (curveRows(context).length) list.push({ id: 'curves', text: 'Curves', draw: panel => drawCurves(panel, context) });
  if (dataset.models) {
    list.push({ id: 'confusion', text: 'Confusion', draw: panel => drawConfusion(panel, context) });
    list.push({ id: 'roc', text: 'ROC and PR', draw: panel => drawRoc(panel, context) });
  }
  if (dataset.models || dataset.rows.some(row => row.calibration)) list.push({ id: 'reliability', text: 'Reliability', draw: panel => drawReliability(panel, context) });
  if (dataset.embedding) list.push({ id: 'embedding', text: 'Embedding', draw: panel => drawEmbedding(panel, context) });
  return list;
}

export const inside = {
  id: 'inside',
  title: 'Inside a model',
  short: 'Model',
  has: context => context.document.curves.length > 0 || context.document.datasets.some(d => d.models || d.rows.some(row => row.calibration)),
  uses: ['dataset', 'row', 'domain', 'tab', 'label', 'space', 'colour', 'unweighted', 'other'],
  draw(root, context) {
    const { dataset, state } = context;
    const list = parts(context);
    if (!list.length) {
      root.append(note('No run folder, model or data of ' + dataset.name + ' was at hand.'));
      return;
    }
    const rows = [...new Set([...modelRows(context), ...curveRows(context), ...dataset.rows.filter(row => row.calibration).map(row => row.name)])];
    const row = rows.includes(state.row) ? state.row : rows.includes(dataset.chosen) ? dataset.chosen : rows[0];
    state.insideRow = row;
    const box = el('div', { class: 'card' });
    root.append(box);
    const made = tabs('Views of a model', list, state.tab, tab => context.change({ tab }));
    box.append(el('div', { class: 'toolbar' }, choice('Method', rows, row, name => context.change({ row: name }))), ...made.nodes);
    made.draw();
  },
};
