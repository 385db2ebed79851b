// SPDX-License-Identifier: Apache-2.0
// Long tables: the page asks for the rows in view, and shows them in a box that is as high as all rows together.

import { h, none, number, plural, time } from './dom.js';

const height = 30; // of a row, as in style.css
const ahead = 20;

/** Which rows of the table are in view. */
export const window = {
  from: 0,
  n: 60,
  total: 0,
  top: 0,
  reset() { this.from = 0; this.top = 0; },
  scrolled(box) {
    const first = Math.floor(box.scrollTop / height);
    const from = Math.max(0, first - ahead);
    const n = Math.min(200, Math.ceil(box.clientHeight / height) + 2 * ahead);
    const moved = from !== this.from || n > this.n;
    // Rows that are loaded are not asked for again until the view nears their ends.
    const inside = first >= this.from && first + Math.ceil(box.clientHeight / height) <= this.from + this.n;
    if (!moved || (inside && Math.abs(from - this.from) < ahead / 2)) return false;
    this.from = from;
    this.n = Math.max(this.n, n);
    return true;
  },
};

const place = (e, y) => { e.style.transform = `translateY(${y}px)`; return e; };

function table(kind, heads, data, { q, sort, sorts = {}, label, filterHint, empty }, cells) {
  window.total = data.total;
  const rows = h('div', { class: 'rows' });
  rows.style.height = `${data.total * height}px`;
  rows.append(place(h('div', { class: 'slice' }, data.rows.map((row, i) => {
    const { href, cols, key } = cells(row);
    return h(href ? 'a' : 'div', { class: 'row', href, 'data-key': `${kind}${key}`, 'data-row': data.from + i, tabindex: href ? null : 0 },
      cols.map((c, j) => h('span', { class: heads[j][1], title: typeof c === 'string' && c.length > 20 ? c : null }, c)));
  })), data.from * height));
  return [
    filterHint && h('div', { class: 'filter' },
      h('label', { for: 'q' }, 'Filter'),
      h('input', { id: 'q', type: 'search', value: q || '', placeholder: filterHint, autocomplete: 'off', spellcheck: 'false' }),
      h('span', { class: 'quiet' }, label)),
    !filterHint && h('p', { class: 'quiet' }, label),
    data.total === 0 ? none(empty) : h('div', { class: `table ${kind}` },
      h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
        h('div', { class: 'head row' }, heads.map(([title, css]) => {
          const by = sorts[title];
          return h('span', { class: css },
            by ? h('button', { 'data-act': 'sort', 'data-sort': by, 'aria-pressed': String(by === sort) }, title, by === sort ? ' ▾' : '') : title);
        })), rows))];
}

const windowed = (path) => (get, r) => get(path, { q: r.params.q, sort: r.params.sort, from: window.from, n: window.n });

const states = (m) => Object.entries(m).sort((a, b) => b[1] - a[1]).map(([s, n]) => `${number(n)} ${s}`).join(', ');

const quote = (s) => (/\s/.test(s) ? `"${s}"` : s);

/** The filter that chooses the blocks of a place. */
export const siteQuery = ({ file, line, form }) =>
  file ? `site:${quote(file)}${line ? `:${line}` : ''}` : quote(form || '');

const blockHint = 'state:parked op:put chan:orders age>5s site:orders.clj:31';

const subTabs = (r) => h('p', { class: 'sub' },
  h('a', { href: `#/sites?${new URLSearchParams(r.params.q ? { q: r.params.q } : {})}`, 'aria-current': r.view === 'sites' ? 'true' : null }, 'by place'),
  h('a', { href: `#/blocks?${new URLSearchParams(r.params.q ? { q: r.params.q } : {})}`, 'aria-current': r.view === 'blocks' ? 'true' : null }, 'one by one'));

export const sites = {
  title: 'Blocks',
  data: windowed('sites'),
  render: (d, r) => [subTabs(r), table('sites',
    [['Blocks', 'num'], ['States', 'states'], ['Oldest wait', 'num'], ['Place', 'place'], ['Form', 'form'], ['The oldest waits', 'waits'], ['Change', 'num change']], d,
    { q: r.params.q, sort: r.params.sort || 'since', sorts: { Blocks: 'count', 'Oldest wait': 'since' }, label: plural(d.total, 'place'), filterHint: blockHint,
      empty: r.params.q ? 'No block matches the filter.' : 'There are no blocks.' },
    (g) => ({ key: `${g.file}:${g.line}:${g.column}:${g.form}`, href: `#/blocks?${new URLSearchParams({ q: siteQuery(g) })}`,
      cols: [number(g.count), states(g.states), time(g.since), g.place || '–', g.form || '–', g.waits || '–',
        g.grew ? `${g.grew > 0 ? '+' : '−'}${number(Math.abs(g.grew))}` : ''] }))],
};

export const blocks = {
  title: 'Blocks',
  data: windowed('blocks'),
  render: (d, r) => [subTabs(r), table('blocks',
    [['Block', 'name'], ['State', 'state'], ['For', 'num'], ['Place', 'place'], ['Form', 'form'], ['Waits', 'waits'], ['Steps', 'num runs'], ['Made by', 'parent']], d,
    { q: r.params.q, sort: r.params.sort || 'since', sorts: { Block: 'id', State: 'state', For: 'since', Place: 'site', Steps: 'runs' }, label: plural(d.total, 'block'),
      filterHint: blockHint, empty: r.params.q ? 'No block matches the filter.' : 'There are no blocks.' },
    (b) => ({ key: b.id, href: `#/block/${b.id}`,
      cols: [b.name, b.state, time(b.since), b.place || '–', b.form || '–', b.waits || '–', number(b.runs), b.parent ? `go-${b.parent}` : '–'] }))],
};

const bar = ({ count, capacity }) => {
  const fill = h('span', { class: 'fill' });
  fill.style.width = `${capacity ? Math.min(100, (100 * count) / capacity) : 0}%`;
  return h('span', { class: `bar${capacity && count >= capacity ? ' full' : ''}`, 'aria-hidden': 'true' }, fill);
};

/** What is in a buffer, drawn and in words. */
export const buffer = (b) =>
  b ? [bar(b), ` ${number(b.count)}${b.capacity ? ` of ${number(b.capacity)}` : ''}${b.capacity && b.count >= b.capacity ? ', full' : ''}`] : 'none';

export const channels = {
  title: 'Channels',
  data: windowed('channels'),
  render: (d, r) => table('channels',
    [['Channel', 'name'], ['Buffer', 'buffer'], ['Takers', 'num'], ['Putters', 'num'], ['Oldest wait', 'num'], ['', 'extra']], d,
    { q: r.params.q, sort: r.params.sort || 'oldest', sorts: { Buffer: 'fill', Takers: 'waiters', 'Oldest wait': 'oldest' },
      label: `${plural(d.total, 'channel')} in which somebody waits, or with a label`, filterHint: 'a part of a name', empty: 'Nobody waits in a channel.' },
    (c) => ({ key: c.id, href: `#/channel/${c.id}`,
      cols: [c.name, buffer(c.buffer), number(c.takes), number(c.puts), time(c.oldest),
        [c.collected ? 'its block can never end' : '', c.closed ? 'closed' : '', c.remaining !== null && c.remaining !== undefined ? `${time(c.remaining)} left` : ''].filter(Boolean).join(', ')] })),
};

export const threads = {
  title: 'Threads',
  data: windowed('threads'),
  render: (d) => table('threads', [['Thread', 'name'], ['For', 'num'], ['Place', 'place'], ['Waits', 'waits'], ['', 'extra']], d,
      { label: plural(d.total, 'thread waits in a channel or for a lock', 'threads wait in channels or for locks'), empty: 'No thread waits in a channel or for a lock.' },
      (t) => ({ key: t.tid, href: t.channel ? `#/channel/${t.channel}` : `#/graph?of=thread-${t.tid}`,
        cols: [t.name, time(t.since), t.place || '–', t.waits, [t.stuck ? 'waits for ever' : '', t.virtual ? 'virtual' : ''].filter(Boolean).join(', ')] })),
};

const party = (p) => [p.id ? h('a', { href: `#/block/${p.id}` }, p.name) : p.name, p.state && p.state !== 'done' ? `, ${p.state}` : '', p.place ? `, ${p.place}` : '', p.waits ? `, waits ${p.waits}` : ''];

const ended = (s) => s.cancelled
  ? `cancelled${s['cancelled-ms'] !== undefined && s['cancelled-ms'] !== null ? ` ${time(s['cancelled-ms'])} ago` : ''}${s.reason ? ` by ${s.reason === 'outside' ? 'something outside' : s.reason}` : ''}`
  : 'open';

export const scopes = {
  title: 'Scopes',
  data: (get) => get('scopes'),
  render: (d) => [
    h('p', { class: 'quiet' }, `${plural(d.total, 'open scope')}. Only scopes with a block, or with a thread that waits in a channel, are shown. Those cancelled longest ago are first.`),
    d.total === 0 ? null : h('ol', { class: 'tree' }, d.rows.map((s, i) => {
      const li = h('li', { 'data-key': `s${s.id}`, 'data-row': i, tabindex: '0', class: s.cancelled ? 'cancelled' : null },
        h('p', null, h('b', null, `scope ${s.id}`), `, ${ended(s)}`, s.remaining !== null && s.remaining !== undefined ? `, ${time(s.remaining)} left` : '',
          s.failures ? `, ${plural(s.failures, 'failure')}` : '', '. Its body: ', party(s.body || { name: 'unknown' }), '.'),
        h('ul', null, s.children.map((c) => h('li', null, party(c))), s.n > s.children.length ? h('li', null, `and ${number(s.n - s.children.length)} more`) : null));
      li.style.marginInlineStart = `${s.depth * 24}px`;
      return li;
    }))],
};
