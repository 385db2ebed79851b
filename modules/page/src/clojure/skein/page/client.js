// SPDX-License-Identifier: Apache-2.0
// How a page talks to its server: the token, requests, and the stream of events.

// The token comes in the fragment of the address. It is removed, so that it isn't copied with the address.
function token() {
  const given = /^#t=([\w-]+)$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem('skein-token', given[1]);
    history.replaceState(null, '', '#/');
  }
  return sessionStorage.getItem('skein-token') || '';
}

const secret = token();
addEventListener('hashchange', () => { if (/^#t=/.test(location.hash)) { token(); location.reload(); } });

export const authorization = { Authorization: `Bearer ${secret}` };

/** The message for an error status. */
export const refusal = (status) => status === 403
  ? 'This page has no valid token. Open the address that the command printed.'
  : `The server could not answer (${status}).`;

/** Returns the server's reply, or null for a 404. Throws TypeError if there is no server. */
export async function ask(path, params = {}, options = {}) {
  const given = Object.entries(params).filter(([, v]) => v !== null && v !== undefined && v !== '');
  const reply = await fetch(`/api/${path}?${new URLSearchParams(given)}`, { ...options, headers: authorization });
  if (reply.ok) return reply;
  if (reply.status === 404) return null;
  const says = await reply.json().catch(() => null);
  throw new Error(says?.error || refusal(reply.status));
}

/**
 * Reads the server's events. Returns a function that switches this on and off. `heard` gets the newest event. If the stream fails,
 * `lost` gets the error, and the page connects again after a second.
 */
export function stream(heard, lost) {
  let current = null;
  async function open() {
    const own = (current = new AbortController());
    try {
      const reader = (await ask('stream', {}, { signal: own.signal })).body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ''; ;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const events = text.split('\n\n');
        text = events.pop();
        const newest = events.map((e) => e.slice(6)).findLast((e) => e); // an empty one only keeps the connection alive
        if (newest) heard(JSON.parse(newest));
      }
      lost(new TypeError('The stream has ended.'));
    } catch (e) {
      if (own.signal.aborted) return;
      lost(e);
    }
    setTimeout(() => { if (current === own) open(); }, 1000);
  }
  return (on) => {
    if (on && !current) open();
    if (!on) { current?.abort(); current = null; }
  };
}

/** Returns a function that runs `f`, never twice at once. Calls meanwhile cause one more run, as does a result of true. */
export function oneAtATime(f) {
  let running = false;
  let again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    try {
      while (again) {
        again = false;
        if (await f()) again = true;
      }
    } finally {
      running = false;
    }
  };
}
