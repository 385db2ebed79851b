// SPDX-License-Identifier: Apache-2.0
// The page of --serve: it requests the report whenever the server says that there is a newer one, and shows the progress of the count.

import { authorization, oneAtATime, refusal, stream } from './client.js';
import { morph } from './morph.js';

const now = document.getElementById('now');
const shown = document.getElementById('report');
let state = {}; // the last event: {rev, at, state, says, done, total}

const size = (n) => (n < 1e6 ? `${(n / 1e3).toFixed(0)} kB` : n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(2)} GB`);

function say(text, bad = false) {
  if (now.textContent !== text) now.textContent = text;
  now.className = bad ? 'bad' : '';
}

function status() {
  const read = state.done ? `${size(state.done)}${state.total ? ` of ${size(state.total)}, ${Math.floor((100 * state.done) / state.total)} %` : ''}` : '';
  const says = state.says ? ` ${state.says}` : '';
  const at = new Date(state.at).toLocaleTimeString('sv-SE');
  say({
    waiting: 'Waiting for the first line.',
    counting: `Counting … ${read}`,
    following: `Live. Last change at ${at}.${says}`,
    done: `Everything was counted at ${at}.${says}`,
  }[state.state]);
}

// The reply is parsed as a separate document, in which no script runs. The page takes its elements over.
function request(wanted) {
  const query = new URLSearchParams([...wanted].map(([id, { by = '', up, all }]) => [id, `${by}${up ? ' up' : ''}${all ? ' all' : ''}`]));
  return new Promise((resolve, reject) => {
    const x = new XMLHttpRequest();
    x.open('GET', `/api/report?${query}`);
    x.setRequestHeader('Authorization', authorization.Authorization);
    x.responseType = 'document';
    x.onload = () => (x.status === 200 ? resolve(x.response) : x.status === 404 ? resolve(null) : reject(new Error(refusal(x.status))));
    x.onerror = () => reject(new TypeError('no server'));
    x.send();
  });
}

function lost(e) {
  say(e instanceof TypeError ? 'The command has ended, or can\'t be reached. This is the last report.' : e.message, true);
}

const refresh = oneAtATime(async () => {
  try {
    const fresh = await request(report.wanted);
    if (!fresh) return;
    morph(shown, fresh.body);
    report.showAll();
    shown.dataset.rev = state.rev;
  } catch (e) {
    lost(e);
  }
});

report.ask(refresh);

const listen = stream((event) => {
  const newer = event.rev !== state.rev;
  state = event;
  status();
  if (newer) refresh();
}, lost);
const attend = () => listen(!document.hidden);
document.addEventListener('visibilitychange', attend);
attend();
