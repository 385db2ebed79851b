// SPDX-License-Identifier: Apache-2.0
// Makes elements out of text, never out of markup.

const svgNames = new Set(['svg', 'g', 'path', 'polyline', 'rect', 'polygon', 'circle', 'text', 'tspan', 'marker', 'defs', 'title']);

function make(namespace, tag, props, children) {
  const e = namespace ? document.createElementNS(namespace, tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (v === null || v === undefined || v === false) continue;
    e.setAttribute(k, v === true ? '' : String(v));
  }
  for (const c of children.flat(Infinity)) {
    if (c === null || c === undefined || c === false) continue;
    e.append(c);
  }
  return e;
}

/** Returns an element of HTML, or of SVG if its name is one of SVG. Strings become text, never markup. */
export const h = (tag, props, ...children) =>
  make(svgNames.has(tag) ? 'http://www.w3.org/2000/svg' : null, tag, props, children);

/** A link inside a drawing. */
export const svgLink = (props, ...children) => make('http://www.w3.org/2000/svg', 'a', props, children);

/** Milliseconds in words, in no more than two units. */
export function time(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return `${Math.round(ms / 10) / 100} s`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.floor(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export const number = (n) => (n === null || n === undefined ? '–' : n.toLocaleString('en-US'));

export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** Returns a sentence in which the names of blocks are links. */
export const words = (text) =>
  String(text ?? '').split(/\b(go-\d+)\b/).map((part) =>
    /^go-\d+$/.test(part) ? h('a', { href: `#/block/${part.slice(3)}` }, part) : part);

/** Returns the rank of a finding as a coloured word. */
export const badge = (rank) => h('span', { class: `badge ${rank}` }, rank);

/** Lines of source, with one of them marked. */
export const source = (lines) =>
  lines && lines.length
    ? h('pre', { class: 'source' }, lines.map(({ n, text, 'here?': here }) =>
        h('div', { class: here ? 'here' : null },
          h('span', { class: 'n' }, here ? `▶ ${n}` : String(n)), ` ${text || ' '}`)))
    : null;

export const section = (title, ...children) => h('section', null, h('h2', null, title), children);

export const none = (text) => h('p', { class: 'quiet' }, text);
