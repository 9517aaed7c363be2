// A form made from the option declarations: starts and stops runs, where the studio may.
import { el, clear, note, freshId } from './dom.js';
import { button, choice, toolbar } from './controls.js';
import { studio, follow, failed } from './studio_state.js';

const FIRST = new Set(['train.epochs', 'train.seeds', 'train.eval_every', 'method.lr']);

function field(option) {
  const key = option.section + '.' + option.key;
  const id = freshId('option');
  const now = studio.form.set[key] ?? '';
  const given = value => {
    if (value === '') delete studio.form.set[key];
    else studio.form.set[key] = value;
  };
  const words = option.type === 'choice' ? option.allowed.split(' | ') : option.type === 'bool' ? ['true', 'false'] : null;
  let box;
  if (words) {
    box = el('select', { id, onchange: event => given(event.target.value) },
      el('option', { value: '' }, option.default + ' (default)'), words.map(word => el('option', { value: word }, word)));
    box.value = now;
  } else {
    box = el('input', { id, type: 'text', value: now, placeholder: option.default, autocomplete: 'off', spellcheck: 'false', oninput: event => given(event.target.value.trim()) });
  }
  box.dataset.option = key;
  return el('div', { class: 'control', title: option.help + (option.allowed ? ' (' + option.allowed + ')' : '') }, el('label', { for: id }, key), box);
}

function jobLine(job, source, after) {
  const goes = job.state === 'running';
  return el('li', { 'data-job': job.id, 'data-state': job.state }, el('code', {}, job.command), ' ', el('span', { class: 'tag' }, job.state), ' ',
    job.message ? el('span', { class: 'count' }, job.message) : null, ' ',
    goes ? button('Stop', () => source.post('/api/stop', { id: job.id }).then(after, after), { 'aria-label': 'Stop ' + job.command }) : null);
}

export const startPanel = {
  id: 'start',
  title: 'Start a run',
  short: 'Start',
  uses: [],
  draw(root, context) {
    const { source } = context;
    const heads = el('div');
    const first = el('div', { class: 'toolbar' });
    const others = el('div', { class: 'toolbar' });
    const said = el('div', { role: 'status' });
    const jobs = el('ul', { class: 'plain' });
    const loadJobs = () => source.get('/api/runs', { limit: 0 }).then(answer => {
      clear(jobs).append(...answer.jobs.reverse().map(job => jobLine(job, source, loadJobs)));
    }).catch(() => {});
    const loadForm = async () => {
      let form;
      try {
        form = await source.get('/api/form', studio.form);
      } catch (error) {
        failed(said, error);
        return;
      }
      if (!form.write) {
        clear(root).append(note('This studio only shows. Start it with --write to start and stop runs here.'));
        return;
      }
      const level = form.datasets.find(entry => entry.name === studio.form.dataset)?.level;
      const methods = form.methods.filter(entry => entry.level === level);
      const method = methods.find(entry => entry.name === studio.form.method);
      const set = values => {
        studio.form = { ...studio.form, preset: '', set: {}, ...values };
        loadForm();
      };
      if (!method) {
        set({ method: methods[0].name });
        return;
      }
      clear(heads).append(toolbar(
        choice('Dataset', form.datasets.map(entry => entry.name), studio.form.dataset, dataset => set({ dataset })),
        choice('Method', methods.map(entry => entry.name), studio.form.method, name => set({ method: name })),
        choice('Preset', ['', ...method.presets].map(value => ({ value, text: value || 'default' })), studio.form.preset, preset => set({ preset }))),
        note(method.summary));
      const shown = form.options || [];
      const isFirst = option => FIRST.has(option.section + '.' + option.key);
      clear(first).append(...shown.filter(isFirst).map(field));
      clear(others).append(...shown.filter(option => !isFirst(option)).map(field));
    };
    const start = async () => {
      clear(said);
      try {
        const answer = await source.post('/api/start', { ...studio.form });
        said.append(note('Run ' + answer.id + ' has been started.'));
      } catch (error) {
        failed(said, error);
      }
      loadJobs();
    };
    root.append(heads, first, el('details', {}, el('summary', {}, 'All options'), others),
      el('p', {}, button('Start the run', start, { class: 'button main', id: 'start-run' })), said, jobs);
    loadForm();
    loadJobs();
    follow(source, event => event.type === 'runs' && loadJobs());
  },
};
