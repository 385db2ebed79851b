// SPDX-License-Identifier: Apache-2.0
// What grew since an earlier look, or between two dumps.

import { h, none, number, time } from './dom.js';
import { siteQuery } from './tables.js';

const keyOf = (s) => `${s.place} ${s.form || ''}`;

function changes(before, now) {
  const was = new Map(before.rows.map((s) => [keyOf(s), s]));
  const all = new Map([...was, ...now.rows.map((s) => [keyOf(s), s])]);
  return [...all].map(([key, s]) => {
    const a = was.get(key)?.count || 0;
    const b = now.rows.find((n) => keyOf(n) === key)?.count || 0;
    return { key, site: s, before: a, now: b, by: b - a };
  }).filter((c) => c.by).sort((a, b) => b.by - a.by);
}

export const compare = {
  title: 'Compare',
  data: async (get, r, state) => {
    const [file, now] = await Promise.all([get('before'), get('sites', { n: 200, sort: 'count' })]);
    return { before: state.remembered || file, now, since: state.remembered ? state.rememberedAt : null };
  },
  render: ({ before, now, since }) => [
    h('p', null, before
      ? `Blocks by place, ${since ? `${time(Date.now() - since)} ago` : 'in the earlier file'} and now. The places that grew are first. `
      : 'Remember how many blocks are at each place. Later this view shows what grew. ',
    h('button', { 'data-act': 'remember' }, before ? 'Remember again' : 'Remember')),
    !before ? null : ((rows) => rows.length
      ? h('table', { class: 'plain' },
        h('thead', null, h('tr', null, ['Before', 'Now', 'Change', 'Place'].map((t, i) => h('th', { scope: 'col', class: i < 3 ? 'num' : null }, t)))),
        h('tbody', null, rows.map((c, i) => h('tr', { 'data-key': c.key },
          h('td', { class: 'num' }, number(c.before)), h('td', { class: 'num' }, number(c.now)),
          h('td', { class: 'num' }, `${c.by > 0 ? '+' : '−'}${number(Math.abs(c.by))}`),
          h('td', { class: 'code' }, h('a', { 'data-row': i, href: `#/blocks?${new URLSearchParams({ q: siteQuery(c.site) })}` }, c.key))))))
      : none('Nothing has changed.'))(changes(before, now))],
};
