// The runs of the folder: search, live states, downloads, and which of them the page below is about.
import { el, clear, note } from './dom.js';
import { button, choice, searchBox, toolbar } from './controls.js';
import { studio, follow, failed } from './studio_state.js';

const LIMIT = 50;
const FILES = ['summary.json', 'config.toml', 'metrics.jsonl', 'env.json', 'log.txt', 'model.safetensors'];

const number = (value, digits = 1) => (typeof value === 'number' ? value.toFixed(digits) : '');

function live(run) {
  const last = studio.progress.get(run.path);
  if (run.state !== 'running' || !last) return null;
  const loss = last.loss && typeof last.loss.total === 'number' ? ', loss ' + last.loss.total.toPrecision(4) : '';
  const validation = typeof last.validation === 'number' ? ', validation ' + last.validation.toFixed(1) : '';
  return el('span', { class: 'count live', 'data-run': run.path }, 'epoch ' + last.epoch + (run.epochs ? ' of ' + run.epochs : '') + loss + validation);
}

function downloads(run, source) {
  const files = run.state === 'done' ? FILES : FILES.slice(1, 5);
  return el('details', {}, el('summary', {}, 'Files'),
    files.map(name => el('div', {}, el('a', { href: source.address('/api/file', { run: run.path, name }), download: name }, name))));
}

function rowOf(run, context) {
  const show = path => {
    context.source.show({ path });
    context.reload();
  };
  return el('tr', { 'data-run': run.path, 'data-state': run.state },
    el('th', { scope: 'row', class: 'text' }, run.path, run.problem ? el('span', { class: 'tag' }, run.problem) : null),
    el('td', { class: 'text' }, run.method || '', run.preset ? ':' + run.preset : ''),
    el('td', { class: 'text' }, run.state, ' ', live(run)),
    el('td', { class: 'number' }, number(run.validation)),
    el('td', { class: 'text' },
      run.state === 'done' ? button('Show', () => show(run.path), { 'aria-label': 'Show ' + run.path }) : null, ' ',
      run.state === 'done'
        ? button('Ask', () => {
            studio.run = run.path;
            context.change({ asked: run.path });
            document.getElementById('ask')?.scrollIntoView();
          }, { 'aria-label': 'Ask ' + run.path })
        : null),
    el('td', { class: 'text' }, downloads(run, context.source)));
}

function studyLinks(list, context) {
  return el('p', { class: 'note' }, 'Studies: ', list.map(study => [
    button(study.name, () => {
      context.source.show({ study: study.name });
      context.reload();
    }),
    ' ',
  ]));
}

export const runsPanel = {
  id: 'runs',
  title: 'Runs',
  uses: ['listed'],
  draw(root, context) {
    const status = el('p', { class: 'count', role: 'status' });
    const list = el('div', { class: 'frame' });
    const pages = el('div', { class: 'toolbar gap-above' });
    const studies = el('div');
    let round = 0;
    const load = async () => {
      const mine = ++round;
      let answer;
      try {
        answer = await context.source.get('/api/runs', { search: studio.search, state: studio.state, offset: studio.offset, limit: LIMIT });
      } catch (error) {
        if (mine === round) failed(list, error);
        return;
      }
      if (mine !== round) return;
      const last = Math.min(answer.offset + LIMIT, answer.matching);
      status.textContent = answer.matching === 0
        ? 'No run of ' + answer.folder + ' matches.'
        : 'Runs ' + (answer.offset + 1) + ' to ' + last + ' of ' + answer.matching + '; ' + answer.all + ' in ' + answer.folder + '.';
      clear(list).append(el('table', {},
        el('thead', {}, el('tr', {}, ['run', 'method', 'state', 'validation', '', ''].map(text => el('th', { scope: 'col' }, text)))),
        el('tbody', {}, answer.runs.map(run => rowOf(run, context)))));
      clear(pages).append(
        button('Newer', () => move(-LIMIT), { disabled: answer.offset === 0 }),
        button('Older', () => move(LIMIT), { disabled: last >= answer.matching }));
    };
    const move = step => {
      studio.offset = Math.max(0, studio.offset + step);
      load();
    };
    const from = change => {
      change();
      studio.offset = 0;
      load();
    };
    root.append(
      toolbar(
        searchBox('Search runs', studio.search, text => from(() => (studio.search = text))),
        choice('State', ['', 'done', 'running', 'unfinished'].map(value => ({ value, text: value || 'all' })), studio.state,
          value => from(() => (studio.state = value))),
        button('Show all of the list', () => {
          const folder = studio.search.replace(/\/+$/, '');
          context.source.show(folder ? { path: folder } : {});
          context.reload();
        }, { title: 'The page below is about all runs below the folder that is searched for' })),
      status, list, pages, studies);
    load();
    context.source.get('/api/studies').then(answer => answer.studies.length && studies.append(studyLinks(answer.studies, context))).catch(() => {});
    studio.listeners.clear();
    follow(context.source, event => {
      if (event.type === 'runs') load();
      if (event.type !== 'progress') return;
      for (const row of list.querySelectorAll('tr[data-state="running"]')) {
        if (row.dataset.run === event.data.path) {
          const cell = row.children[2];
          const line = live({ path: event.data.path, state: 'running' });
          clear(cell).append('running ', line);
        }
      }
    });
    for (const text of context.document.notes || []) root.append(note(text));
  },
};
