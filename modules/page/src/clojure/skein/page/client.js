// SPDX-License-Identifier: Apache-2.0
// How a page talks with its server: the token, questions, and the stream of events.

// The token comes in the fragment of the address, and goes from there before anybody copies the address.
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

/** What is wrong if the server answers with `status`. */
export const refusal = (status) => status === 403 ? 'This page has no valid token. Open the address that the command printed.' : `The server could not answer (${status}).`;

/** The server's reply, or null if what was asked for is not there. Throws TypeError if there is no server. */
export async function ask(path, params = {}, options = {}) {
  const given = Object.entries(params).filter(([, v]) => v !== null && v !== undefined && v !== '');
  const reply = await fetch(`/api/${path}?${new URLSearchParams(given)}`, { ...options, headers: authorization });
  if (reply.ok) return reply;
  if (reply.status === 404) return null;
  const says = await reply.json().catch(() => null);
  throw new Error(says?.error || refusal(reply.status));
}

/**
 * Reads the server's events. Returns a function that switches this on and off. `heard` gets the newest event, `lost` the error when
 * there is no stream; a new one is tried each second.
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
        const newest = events.map((e) => e.slice(6)).findLast((e) => e); // an empty one says that the server is there
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

/** A function that runs `f`, once at a time: of the calls that come meanwhile the last counts. If `f` returns true, it is run again. */
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
