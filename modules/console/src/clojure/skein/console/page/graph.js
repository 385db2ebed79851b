// SPDX-License-Identifier: Apache-2.0
// The graph of waits, as the server has laid it out.

import { h, svgLink, none, number, plural } from './dom.js';

const wide = 290;
const high = 70;
const box = { w: 228, h: 44 };
const short = (s, n) => (s && s.length > n ? `${s.slice(0, n - 1)}…` : s || '');

const shape = ({ kind }) =>
  kind === 'channel' ? h('rect', { width: box.w, height: box.h, rx: 2 })
    : kind === 'thread' ? h('polygon', { points: `12,0 ${box.w - 12},0 ${box.w},${box.h / 2} ${box.w - 12},${box.h} 12,${box.h} 0,${box.h / 2}` })
      : h('rect', { width: box.w, height: box.h, rx: box.h / 2 });

const target = (n) => ({
  block: `#/block/${n.id}`, channel: `#/channel/${n.id}`, thread: `#/graph?of=thread-${n.id}`,
  site: `#/blocks?${new URLSearchParams({ q: `"${n.name}"` })}` })[n.kind];

const at = (n) => [n.layer * wide + 8, n.at * high + 8];

function node(n, i, of) {
  const [x, y] = at(n);
  const says = `${n.kind} ${n.name}${n.verdict ? `, ${n.verdict}` : ''}${n.place ? `, ${n.place}` : ''}${n.n > 1 ? `, ${plural(n.n, 'block')}` : ''}`;
  return svgLink({ href: target(n), transform: `translate(${x} ${y})`, class: `node ${n.kind} ${n.verdict || ''}${n.key === of ? ' centre' : ''}`, 'data-key': n.key, 'data-row': i, 'aria-label': says },
    h('title', null, says), shape(n),
    h('text', { x: box.w / 2, y: 18, class: 'name' }, short(n.name, 24) + (n.n > 1 ? ` ×${number(n.n)}` : ''), n.verdict ? ` ${n.verdict.toUpperCase()}` : ''),
    h('text', { x: box.w / 2, y: 34, class: 'place' }, short(n.place || n.kind, 30)));
}

function edge([from, to, what], nodes) {
  const a = nodes.get(from);
  const b = nodes.get(to);
  const [ax, ay] = at(a);
  const [bx, by] = at(b);
  const forward = bx > ax;
  const [x1, y1] = [ax + (forward ? box.w : box.w / 2), ay + (forward ? box.h / 2 : box.h)];
  const [x2, y2] = [bx + (forward ? 0 : box.w / 2), by + (forward ? box.h / 2 : box.h)];
  const d = forward
    ? `M${x1},${y1} C${x1 + 40},${y1} ${x2 - 40},${y2} ${x2 - 3},${y2}`
    : `M${x1},${y1} C${x1},${y1 + 34} ${x2},${y2 + 34} ${x2},${y2 + 3}`;
  const mark = what === 'holds' ? '' : a.verdict || ''; // that of the wait
  return h('g', { class: `edge ${what} ${mark}`, 'data-key': `${from} ${to} ${what}` },
    h('path', { d, 'marker-end': 'url(#tip)' }),
    what === 'holds' ? null
      : h('text', { x: (x1 + x2) / 2, y: forward ? (y1 + y2) / 2 - 5 : Math.max(y1, y2) + 22 }, what === 'makes' ? 'result of' : what));
}

export const graph = {
  title: 'Graph',
  data: (get, r) => get('graph', { of: r.params.of, hops: r.params.hops }),
  render: (d, r) => {
    const nodes = new Map(d.nodes.map((n) => [n.key, n]));
    const width = Math.max(...d.nodes.map((n) => n.layer), 0) * wide + box.w + 16;
    const height = (Math.max(...d.nodes.map((n) => n.at), 0) + 1) * high + 30;
    const hops = +(r.params.hops || 2);
    return [
      h('p', { class: 'quiet' },
        d.of ? [`What is at most ${plural(hops, 'step')} away. `, h('a', { href: `#/graph?of=${d.of}&hops=${hops + 1}` }, 'Further'), ' · ', h('a', { href: '#/graph' }, 'All')]
          : d.reported ? 'What can never continue, and its neighbours.' : 'All waits.',
        ` ${plural(d.total, 'node')}${d.total > d.nodes.length ? `, drawn as ${number(d.nodes.length)}: blocks of one place together` : ''}. `,
        'Round: a block. Square: a channel. Pointed: a thread. Dashed: has the channel in a local.',
        d.nodes.some((n) => n.verdict === 'awaits') ? ' Awaits: waits only for the result of a proven block; a put on that result, closing it or an interrupt could still end the wait.' : ''),
      d.nodes.length ? h('div', { class: 'canvas', tabindex: '0', role: 'region', 'aria-label': 'Graph of waits' },
        h('svg', { width, height, viewBox: `0 0 ${width} ${height}` },
          h('defs', null, h('marker', { id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerUnits: 'userSpaceOnUse', markerWidth: 9, markerHeight: 9, orient: 'auto-start-reverse' }, h('path', { d: 'M0,0 L8,4 L0,8 z' }))),
          d.edges.map((e) => edge(e, nodes)),
          d.nodes.map((n, i) => node(n, i, d.of)))) : none('Nobody waits.')];
  },
};
