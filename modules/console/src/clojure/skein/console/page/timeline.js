// SPDX-License-Identifier: Apache-2.0
// When blocks ran and waited, on a canvas: a row for each thread with its steps, or for each block with its steps and waits.

import { h, none, number, plural, time, words } from './dom.js';

const high = 20;
const left = 150;
const axis = 24;
const micros = (us) => (us < 1000 ? `${us.toFixed(0)} µs` : us < 1e6 ? `${(us / 1000).toFixed(1)} ms` : `${(us / 1e6).toFixed(2)} s`);

let view = null; // {from, to} in µs
let shown = [];
let chosen = null;

function rows(slices, by) {
  const all = new Map();
  for (const s of slices) {
    const r = by === 'blocks' ? `go-${s.block}` : s.thread || `thread ${s.tid}`;
    (all.get(r) || all.set(r, []).get(r)).push(s);
  }
  return [...all].sort((a, b) => (by === 'blocks' ? b[1].length - a[1].length : a[0].localeCompare(b[0], 'en', { numeric: true })));
}

function draw(canvas, slices, by) {
  const css = getComputedStyle(document.body);
  const colour = (v) => css.getPropertyValue(`--${v}`);
  const wide = canvas.parentElement.clientWidth - 4;
  const all = rows(slices, by);
  const scale = devicePixelRatio || 1;
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${axis + all.length * high}px`;
  canvas.width = wide * scale;
  canvas.height = (axis + all.length * high) * scale;
  const c = canvas.getContext('2d');
  c.scale(scale, scale);
  c.font = '12px system-ui, sans-serif';
  c.textBaseline = 'middle';
  const x = (us) => left + ((us - view.from) / (view.to - view.from)) * (wide - left);
  const step = 10 ** Math.floor(Math.log10((view.to - view.from) / 4));
  for (let us = Math.ceil(view.from / step) * step; us < view.to; us += step * ((view.to - view.from) / step > 12 ? 5 : 1)) {
    c.fillStyle = colour('line');
    c.fillRect(x(us), 0, 1, canvas.height);
    c.fillStyle = colour('soft');
    c.fillText(micros(us), x(us) + 3, 9);
  }
  shown = [];
  all.forEach(([name, slices], i) => {
    const y = axis + i * high;
    for (const s of slices) {
      const a = Math.max(left, x(s['at-us']));
      const b = x(s['at-us'] + s.us);
      if (b < left || a > wide) continue;
      const run = s.kind === 'run';
      c.fillStyle = colour(s === chosen ? 'amber' : run ? 'link' : 'grey-ground');
      c.fillRect(a, y + (run ? 3 : 6), Math.max(1, b - a), run ? high - 6 : high - 12);
      shown.push({ a, b: Math.max(a + 3, b), y, s });
    }
    c.fillStyle = colour('ground');
    c.fillRect(0, y, left - 4, high);
    c.fillStyle = colour('ink');
    c.fillText(name.slice(0, 22), 2, y + high / 2);
  });
}

const said = (s) => `go-${s.block} ${s.kind === 'run' ? 'ran' : 'waited'} for ${micros(s.us)}${s['open?'] ? ' so far' : ''}, from ${micros(s['at-us'])} on` +
  `${s.place ? `, ${s.kind === 'run' ? 'after' : 'at'} ${s.place}` : ''}${s.thread ? `, on ${s.thread} ${s.tid}` : ''}${s.ended ? `. It has ended${s.ended === 'failed' ? ' with an exception' : ''}` : ''}.`;

export const zoom = (factor, shift = 0) => {
  const wide = view.to - view.from;
  const middle = (view.from + view.to) / 2 + shift * wide;
  view = { from: middle - (wide * factor) / 2, to: middle + (wide * factor) / 2 };
};

const viewOf = (r) => (r.params.by === 'blocks' ? 'blocks' : 'threads');

export const timeline = {
  title: 'Timeline',
  data: async (get, r, state) => {
    if (!state.timeline) {
      state.timeline = await get('timeline', { 'last-ms': r.params.last || 5000 });
      view = null;
      chosen = null;
    }
    return state.timeline;
  },
  render: (d, r, state) => {
    const by = viewOf(r);
    const link = (b) => h('a', { href: `#/timeline?by=${b}`, 'aria-current': by === b ? 'true' : null }, `by ${b.slice(0, -1)}`);
    if (d.off) {
      return [h('p', null, d.off), state.tick?.actions?.includes('record')
        ? h('button', { 'data-act': 'record' }, 'Record steps')
        : state.tick?.live ? h('p', { class: 'note' }, 'Start the console with --record to get a button for that.') : null];
    }
    const { slices, total, shown: busiest, of } = d[by];
    const what = by === 'blocks' ? plural(total, 'step or wait', 'steps and waits') : plural(total, 'step');
    const whose = of > busiest ? ` of the ${busiest} busiest of ${number(of)} blocks,` : '';
    return [
      h('p', { class: 'sub' }, link('threads'), link('blocks'),
        h('button', { 'data-act': 'again' }, 'Newest'), h('button', { 'data-act': 'zoom', 'data-by': '0.5' }, 'Closer'), h('button', { 'data-act': 'zoom', 'data-by': '2' }, 'Further'),
        h('button', { 'data-act': 'zoom', 'data-shift': '-0.3' }, 'Earlier'), h('button', { 'data-act': 'zoom', 'data-shift': '0.3' }, 'Later')),
      h('p', { class: 'quiet' }, `${what}${whose} in ${time(d['last-ms'])}${total > slices.length ? `; the longest ${number(slices.length)} are drawn` : ''}. Strong colour: running. Pale: waiting. Click one for details.`),
      h('p', { class: 'says', role: 'status' }, chosen ? words(said(chosen)) : ''),
      slices.length ? h('div', { class: 'canvas', 'data-key': 'canvas' }, h('canvas', { id: 'timeline', role: 'img', 'aria-label': `Steps, ${by} as rows` })) : none('No block has run.')];
  },
  after: (main, d, r) => {
    const canvas = main.querySelector('#timeline');
    if (!canvas) return;
    const end = (slices) => slices.reduce((us, s) => Math.max(us, s['at-us'] + s.us), 1);
    if (!view) view = { from: 0, to: Math.max(end(d.threads.slices), end(d.blocks.slices)) };
    draw(canvas, d[viewOf(r)].slices, viewOf(r));
  },
  clicked: (x, y) => { chosen = shown.findLast((p) => x >= p.a - 2 && x <= p.b + 2 && y >= p.y && y < p.y + high)?.s || null; },
};
