// SPDX-License-Identifier: Apache-2.0
// The page: one state, one stream of counts, and the data of the last look for the open view.

import { ask, oneAtATime, stream } from './client.js';
import { morph } from './morph.js';
import { h, number, plural, time } from './dom.js';
import { overview, problems } from './overview.js';
import { sites, blocks, channels, threads, scopes, window as tableWindow } from './tables.js';
import { block, channel } from './block.js';
import { graph } from './graph.js';
import { compare } from './compare.js';
import { timeline, zoom } from './timeline.js';

const views = { overview, problems, sites, blocks, channels, threads, graph, scopes, timeline, compare, block, channel };
const tabs = [
  ['overview', 'Overview'], ['problems', 'Problems'], ['sites', 'Blocks'], ['channels', 'Channels'], ['threads', 'Threads'],
  ['graph', 'Graph'], ['scopes', 'Scopes'], ['timeline', 'Timeline'], ['compare', 'Compare']];
const parents = { blocks: 'sites', block: 'sites', channel: 'channels' };

const byId = (id) => document.getElementById(id);
const state = { tick: null, data: undefined, shown: null, failed: null, paused: false, gone: false, question: null, remembered: null, focusRow: null };

// --- Asking ----------------------------------------------------------------------

// The request of a view is aborted when another view opens.
const get = async (path, params) => (await ask(path, params, { signal: state.question?.signal }))?.json() ?? null;

// --- Where we are ----------------------------------------------------------------

function route() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [view, id] = path.split('/');
  return { view: views[view] ? view : 'overview', id, params: Object.fromEntries(new URLSearchParams(query || '')) };
}

function go(view, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, v]) => v));
  location.hash = `#/${view}${String(query) ? `?${query}` : ''}`;
}

// --- Showing ---------------------------------------------------------------------

function spark(history) {
  if (!history || history.length < 8) return null;
  const top = Math.max(1, ...history);
  return h('svg', { class: 'spark', viewBox: `0 0 ${history.length - 1} 24`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `Blocks in the last ${history.length} snapshots, at most ${number(top)}` },
    h('polyline', { points: history.map((n, x) => `${x},${22 - (n / top) * 20}`).join(' ') }));
}

function age() {
  const { tick } = state;
  if (!tick?.at) return '';
  if (!tick.live) return `as of ${new Date(tick.at).toLocaleString('sv-SE')}`;
  const s = Math.floor((Date.now() - tick.at) / 1000);
  return s < 2 ? 'seen now' : `seen ${s < 60 ? `${s} s` : time(s * 1000)} ago`;
}

function status() {
  if (state.gone) return ['lost', 'no console'];
  if (state.tick?.error) return ['lost', 'no answer'];
  if (!state.tick?.rev) return ['wait', 'looking …'];
  if (!state.tick.live) return ['file', 'file'];
  return state.paused ? ['paused', 'paused'] : ['live', 'live'];
}

function renderHead() {
  const { tick } = state;
  const c = tick?.counts;
  const [kind, word] = status();
  const states = c ? ['parked', 'running', 'ready', 'new', 'stuck'].filter((s) => c.states[s]).map((s) => `${number(c.states[s])} ${s}`) : [];
  morph(byId('head'), h('header', null,
    h('div', { class: 'who' },
      h('strong', null, 'skein'), h('span', { class: 'target', title: tick?.name }, tick?.name || ''),
      h('span', { class: `status ${kind}` }, word), h('span', { class: 'age' }, age())),
    c && h('div', { class: 'counts' },
      h('span', null, h('b', null, plural(c.blocks, 'block')), states.length ? `: ${states.join(', ')}` : ''),
      c.collected ? h('span', { title: 'Blocks that became unreachable before they had ended' }, `${number(c.collected)} collected`) : null,
      c.memory ? h('span', { title: 'Heap in use, garbage included' }, `heap ${number(c.memory.used)} of ${number(c.memory.max)} MB`) : null,
      spark(tick.history)),
    h('div', { class: 'tools' },
      tick?.live ? h('button', { 'data-act': 'pause', title: 'Space' }, state.paused ? 'Resume' : 'Pause') : null,
      tick?.actions?.includes('prove')
        ? h('button', { 'data-act': 'prove', title: 'Runs the garbage collector of the process' }, 'Prove') : null,
      h('button', { 'data-act': 'dump', title: 'Saves this snapshot as a file' }, 'Save'),
      h('button', { 'data-act': 'help', title: '?' }, 'Keys'))));
  const { view } = route();
  const ranks = c?.ranks || {};
  const grave = (ranks.proven || 0) + (ranks.certain || 0);
  const all = Object.values(ranks).reduce((a, b) => a + b, 0);
  const counts = { problems: all, sites: c?.listed, channels: c?.channels, threads: c?.threads, scopes: c?.scopes };
  morph(byId('nav'), h('nav', null, tabs.map(([v, title], i) =>
    h('a', { href: `#/${v}`, 'data-key': v, 'aria-current': (parents[view] || view) === v ? 'page' : null },
      h('kbd', null, String(i + 1)), title,
      counts[v] ? h('span', { class: v === 'problems' && grave ? 'count grave' : 'count' }, number(counts[v])) : null))));
  const error = state.failed || (state.gone && 'The console has ended or does not answer.') ||
    (tick?.error && `${tick.error.says} What you see is the last snapshot, of ${new Date(tick.at).toLocaleTimeString('sv-SE')}.`);
  morph(byId('banner'), h('div', null, error ? h('p', null, error) : null));
}

function render() {
  const r = route();
  const view = views[r.view];
  const main = byId('main');
  renderHead();
  if (state.shown !== `${r.view}/${r.id}`) {
    main.replaceChildren();
    main.scrollTop = 0;
    state.shown = `${r.view}/${r.id}`;
  }
  if (state.data === undefined) return;
  document.title = `${view.title}${r.id ? ` ${r.id}` : ''} – Skein`;
  main.className = r.view;
  morph(main, h('main', null, state.data === null ? h('p', { class: 'quiet' }, view.missing || 'It no longer exists.') : view.render(state.data, r, state)));
  if (state.data) view.after?.(main, state.data, r);
  if (state.focusRow !== null) {
    main.querySelector(`[data-row="${state.focusRow}"]`)?.focus({ preventScroll: true });
  }
}

const refresh = oneAtATime(async () => {
  const r = route();
  const hash = location.hash;
  state.question = new AbortController();
  try {
    const data = await views[r.view].data(get, r, state);
    if (hash === location.hash) { state.data = data; state.failed = null; }
  } catch (e) {
    if (e instanceof TypeError) state.gone = true; else if (e.name !== 'AbortError') state.failed = e.message;
  }
  if (hash !== location.hash) return true;
  render();
  return false;
});

// --- The stream ------------------------------------------------------------------

function heard(tick) {
  const changed = tick.rev !== state.tick?.rev;
  state.tick = tick;
  state.gone = false;
  if (changed) refresh(); else renderHead();
}

function lost(e) {
  if (e instanceof TypeError) state.gone = true; else state.failed = e.message;
  renderHead();
}

const listen = stream(heard, lost);
const attend = () => listen(!document.hidden && !state.paused);

// --- What the user does ----------------------------------------------------------

const actions = {
  pause: () => { state.paused = !state.paused; attend(); renderHead(); },
  prove: async (b) => {
    b.disabled = true;
    try { await ask('prove', {}, { method: 'POST' }); } catch (e) { state.failed = e.message; }
    b.disabled = false;
    refresh();
  },
  dump: async () => {
    const url = URL.createObjectURL(await (await ask('dump.edn')).blob());
    const a = h('a', { href: url, download: `skein-${new Date().toISOString().replace(/[:.]/g, '-')}.edn` });
    a.click();
    URL.revokeObjectURL(url);
  },
  record: async () => { await ask('record', { on: 'true' }, { method: 'POST' }); actions.again(); },
  again: () => { state.timeline = null; refresh(); },
  zoom: (b) => { zoom(+(b.dataset.by || 1), +(b.dataset.shift || 0)); render(); },
  help: () => help(),
  sort: (b) => { const r = route(); go(r.view, { ...r.params, sort: b.dataset.sort }); },
  remember: async () => { state.remembered = await get('sites', { n: 200, sort: 'count' }); state.rememberedAt = Date.now(); refresh(); },
};

const keys = [
  ['1 – 9', 'the views'], ['j k ↓ ↑', 'from row to row'], ['Enter', 'open'], ['Esc', 'back'], ['/', 'filter'], ['Space', 'pause, resume'], ['?', 'this help']];

const terms = [
  ['state:parked', 'new, ready, running or parked'], ['op:put', 'take or put'], ['site:orders.clj:31', 'a file, or a line of it'],
  ['ns:demo.*', 'namespaces'], ['chan:orders', 'the name of a channel'], ['parent:42', 'made by go-42'],
  ['age>5s  since<1m', 'times in ms, s, m, h'], ['-op:take', 'the opposite'], ['"free text"', 'in names, places, waits']];

function help() {
  const table = (rows) => h('table', null, rows.map(([k, v]) => h('tr', null, h('th', { scope: 'row' }, h('kbd', null, k)), h('td', null, v))));
  const box = byId('help');
  box.replaceChildren(h('h2', null, 'Keys'), table(keys), h('h2', null, 'Filter of blocks'), table(terms),
    h('form', { method: 'dialog' }, h('button', null, 'Close')));
  box.showModal();
}

function move(by) {
  const rows = [...document.querySelectorAll('[data-row]')];
  if (!rows.length) return;
  const now = document.activeElement?.dataset?.row;
  const first = Math.min(...rows.map((r) => +r.dataset.row));
  const want = now === undefined ? first : Math.max(0, +now + by);
  const row = document.querySelector(`[data-row="${want}"]`);
  if (row) {
    state.focusRow = want;
    row.focus();
    row.scrollIntoView({ block: 'nearest' });
  } else if (by > 0 && tableWindow.total > want) {
    state.focusRow = want; // it is focused when it comes
    document.querySelector('.scroll')?.scrollBy(0, 280);
  }
}

function filter(input) {
  const r = route();
  const view = r.view === 'sites' || r.view === 'blocks' || r.view === 'channels' ? r.view : 'blocks';
  go(view, { ...r.params, q: input.value });
}

document.addEventListener('click', (e) => {
  const b = e.target.closest?.('[data-act]');
  if (b) actions[b.dataset.act](b);
  if (e.target.id === 'timeline') { timeline.clicked(e.offsetX, e.offsetY); render(); }
});

document.addEventListener('change', (e) => { if (e.target.id === 'q') filter(e.target); });

document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || byId('help').open) return;
  if (e.target.nodeName === 'INPUT') {
    if (e.key === 'Enter') filter(e.target);
    if (e.key === 'Escape') e.target.blur();
    return;
  }
  const button = e.target.nodeName === 'BUTTON';
  const act = {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    '/': () => { const q = byId('q'); if (q) { q.focus(); q.select(); } else go('blocks'); },
    '?': help, Escape: () => history.back(),
    ' ': button ? null : actions.pause,
  }[e.key] || (/^[1-9]$/.test(e.key) ? () => go(tabs[e.key - 1][0]) : null);
  if (act) { e.preventDefault(); act(); }
});

// Scroll events don't bubble, so they are captured.
document.addEventListener('scroll', (e) => {
  if (e.target.classList?.contains('scroll') && tableWindow.scrolled(e.target)) refresh();
}, true);

document.addEventListener('visibilitychange', attend);
addEventListener('hashchange', () => {
  state.data = undefined;
  if (route().view !== 'timeline') state.timeline = null;
  state.focusRow = null;
  tableWindow.reset();
  state.question?.abort();
  renderHead();
  setTimeout(() => { if (state.data === undefined) byId('main').replaceChildren(h('p', { class: 'quiet' }, 'Looking …')); }, 150);
  refresh();
});
setInterval(() => { if (!document.hidden && state.tick) renderHead(); }, 1000);

renderHead();
attend();
refresh();
