// How to repeat it, and what is not on the page.
import { el, folded } from './dom.js';
import { button } from './controls.js';
import { dataTable } from './table.js';
import { count } from './format.js';

function code(text) {
  const box = el('pre', { tabindex: 0 }, text);
  const copy = button('Copy', async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = 'Copied';
    } catch {
      const range = document.createRange();
      range.selectNodeContents(box);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
  });
  return el('div', { class: 'copied' }, box, copy);
}

export const repeat = {
  id: 'repeat',
  title: 'How to repeat it',
  short: 'Repeat',
  uses: [],
  draw(root, context) {
    const { repeat: data, command, left_out: leftOut, program } = context.document;
    const box = el('div', { class: 'card' });
    root.append(box);
    if (data.study_commands.length) box.append(el('p', {}, 'The study as a whole:'), ...data.study_commands.map(code));
    if (data.commands.length) {
      box.append(folded(count(data.commands.length, 'command') + ' that train to the same bits', el('p', {}, 'The same program, files, seeds and threads give the same bits.'), code(data.commands.join('\n'))));
    }
    if (data.spec) box.append(folded('Specification of the study', code(data.spec)));
    if (data.configs.length) box.append(folded('Configurations in full', data.configs.map(one => folded(one.name, code(one.text)))));
    if (data.versions.length) {
      box.append(folded('Versions', dataTable({ caption: 'Made with', rows: data.versions, filter: false, columns: [{ title: 'what', value: r => r.what }, { title: 'version', value: r => r.values.join(', ') }] })));
    }
    if (data.data.length) {
      box.append(folded('Data files', dataTable({ caption: 'Data files', rows: data.data, csv: 'files', columns: [{ title: 'file', value: r => r.file }, { title: 'dataset', value: r => r.dataset }, { title: 'SHA-256', value: r => r.sha256 }] }),
        data.sources.length ? el('p', {}, 'Where the files come from: ' + data.sources.join('; ') + '.') : null));
    }
    if (command) box.append(folded('This page', code(command)));
    if (leftOut.length) box.append(folded('What is left out (' + leftOut.length + ')', el('ul', { class: 'words-list' }, leftOut.map(one => el('li', {}, one.section + ': ' + one.reason)))));
    root.append(el('p', { class: 'note' }, 'Made by GRM ' + program + '. The page loads nothing from elsewhere.'));
  },
};
