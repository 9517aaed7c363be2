// What the studio's panels share. The page draws its views anew whenever the document changes; what was typed stays here.

export const studio = {
  search: '',
  state: '',
  offset: 0,
  run: '', // the run that is asked
  progress: new Map(), // path -> the last event of a run that goes on
  form: { dataset: 'sbm', method: 'erm', preset: '', set: {} },
  listeners: new Set(),
  watching: false,
};

// Calls back with every event of the server. One stream serves all panels.
export function follow(source, callback) {
  studio.listeners.add(callback);
  if (studio.watching) return;
  studio.watching = true;
  source.watch(event => {
    if (event.type === 'progress') studio.progress.set(event.data.path, event.data);
    for (const listener of studio.listeners) listener(event);
  });
}

export function failed(root, error) {
  root.replaceChildren();
  const line = document.createElement('p');
  line.className = 'warning';
  line.textContent = error.message;
  root.append(line);
}
