// Where the document comes from: out of the page itself, or from the studio.

export function embeddedSource() {
  return {
    kind: 'report',
    async load() {
      return JSON.parse(document.getElementById('document').textContent);
    },
    watch() {},
  };
}

// The token leaves the address bar at once, so that it is not copied along with the address.
function takeToken() {
  const address = new URL(location.href);
  const token = address.searchParams.get('token') || sessionStorage.getItem('token') || '';
  if (token) sessionStorage.setItem('token', token);
  if (address.searchParams.has('token')) {
    address.searchParams.delete('token');
    history.replaceState(null, '', address);
  }
  return token;
}

export function liveSource() {
  const token = takeToken();
  const headers = { Authorization: 'Bearer ' + token };
  const target = (path, parameters, open) => {
    const url = new URL(path, location.origin);
    for (const [name, value] of Object.entries(parameters || {})) {
      if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, value);
    }
    if (open) url.searchParams.set('token', token);
    return url;
  };
  const answer = async response => {
    const text = await response.text();
    let value = text;
    try {
      value = JSON.parse(text);
    } catch {
      // plain text
    }
    if (!response.ok) {
      throw new Error((value && (value.error?.message || value.error)) || text || 'status ' + response.status);
    }
    return value;
  };
  let parameters = Object.fromEntries(new URLSearchParams(location.search));
  const source = {
    kind: 'studio',
    parameters: () => parameters,
    // What the page shows from now on; the next load() asks for it.
    show(wanted) {
      parameters = wanted;
      const address = new URL(location.href);
      address.search = new URLSearchParams(wanted).toString();
      history.replaceState(null, '', address);
    },
    load: () => source.get('/api/document', parameters),
    get: async (path, wanted) => answer(await fetch(target(path, wanted), { headers })),
    post: async (path, body, wanted) =>
      answer(
        await fetch(target(path, wanted), {
          method: 'POST',
          headers: body instanceof Blob || body instanceof ArrayBuffer
            ? headers
            : { ...headers, 'Content-Type': 'application/json' },
          body: body instanceof Blob || body instanceof ArrayBuffer ? body : JSON.stringify(body),
        }),
      ),
    address: (path, wanted) => target(path, wanted, true).href,
    // Calls back with every event of the studio: {type, data}.
    watch(callback) {
      const events = new EventSource(target('/api/events', {}, true));
      for (const type of ['changed', 'progress', 'log', 'runs']) {
        events.addEventListener(type, event => {
          let data = {};
          try {
            data = JSON.parse(event.data);
          } catch {
            // an event without data
          }
          callback({ type, data });
        });
      }
      return events;
    },
  };
  return source;
}
