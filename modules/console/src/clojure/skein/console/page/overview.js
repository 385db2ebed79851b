// SPDX-License-Identifier: Apache-2.0
// What is wrong, in sentences, the surest first.

import { h, badge, none, number, plural, section, source, time, words } from './dom.js';
import { siteQuery } from './tables.js';

const kinds = {
  deadlock: 'deadlock', 'lost-value': 'a value is lost', 'no-clean-up': 'clean-up never runs', locks: 'locks', growth: 'growth' };

const graphOf = (f) => f.blocks?.length ? `#/graph?of=block-${f.blocks[0]}&hops=3` : f.channel ? `#/graph?of=channel-${f.channel}` : null;

const finding = (f, i) => h('article', { class: `finding ${f.rank}`, 'data-row': i, tabindex: '0', 'data-key': `${f.rank}${f.kind}${f.place}${f.says.slice(0, 40)}` },
  h('p', { class: 'top' }, badge(f.rank), h('span', { class: 'kind' }, kinds[f.kind] || f.kind.replaceAll('-', ' ')),
    f.more ? h('span', { class: 'quiet' }, `and ${number(f.more)} more like it`) : null,
    graphOf(f) ? h('a', { class: 'to', href: graphOf(f) }, 'Graph') : null),
  h('p', { class: 'says' }, words(f.says)),
  source(f.source));

const ranks = 'Proven: no running code can reach it. Certain: threads wait for each other\'s locks. Suspected: it looks that way, but may be wrong.';

export const problems = {
  title: 'Problems',
  data: (get) => get('problems'),
  render: (d) => [
    d.unproven ? h('p', { class: 'note' }, d.unproven) : null,
    d.findings.length ? h('p', { class: 'quiet' }, ranks) : none('No problem found.'),
    d.findings.map(finding),
    d.leaks.length ? section('Collected before they had ended', h('ul', { class: 'plain' }, d.leaks.map((l) =>
      h('li', null, h('b', null, number(l.count)), ` at ${l.place}: ${(kinds[l.kind] || l.kind).replaceAll('-', ' ')}`,
        l['last-ms'] !== null && l['last-ms'] !== undefined ? `. The last began to wait ${time(l['last-ms'])} ago.` : '.')))) : null,
    d.failures.length ? section('Uncaught exceptions', h('ul', { class: 'plain' }, d.failures.map((f) =>
      h('li', null, new Date(f['at-ms']).toLocaleTimeString('sv-SE'), ' ', h('b', null, f.exception), f.place ? ` at ${f.place}` : '', `, on ${f.thread}`)))) : null],
};

const share = (part, whole) => {
  const fill = h('span', { class: 'fill' });
  fill.style.width = `${Math.min(100, (100 * part) / whole)}%`;
  return h('span', { class: 'bar wide', 'aria-hidden': 'true' }, fill);
};

export const overview = {
  title: 'Overview',
  data: (get) => get('overview'),
  render: (d, r, state) => [
    h('h1', null, d.headline),
    d.unproven ? h('p', { class: 'note' }, d.unproven) : null,
    h('div', { class: 'columns' },
      h('div', { class: 'wide' },
        d.findings.map(finding),
        d.more ? h('p', null, h('a', { href: '#/problems' }, `${plural(d.more, 'more problem')}`)) : null,
        d.findings.length ? null : h('p', { class: 'quiet' }, 'No deadlock is proven or suspected, and no lint reports anything. A wait that should end may still last for ever.'),
        d.findings.some((f) => f.rank === 'suspected') && state.tick?.live && !state.tick.actions.includes('prove')
          ? h('p', { class: 'note' }, 'Suspicions may be wrong. Start the console with --prove, and the garbage collector can check them.') : null),
      h('div', { class: 'side' },
        d.oldest.length ? section('The oldest waits', h('ol', { class: 'plain' }, d.oldest.map((o) => h('li', null, words(o.says))))) : null,
        d.folds.length ? section('Folds under way', h('ul', { class: 'plain' }, d.folds.map((f) =>
          h('li', { 'data-key': f.tid }, f.total ? share(f.done, f.total) : '', ` ${number(f.done)}${f.total ? ` of ${number(f.total)}` : ''} ${f.unit} in ${time(f.since)}, on ${f.name}${f.place ? `, ${f.place}` : ''}`)))) : null,
        d.sites.length ? section('Where blocks are', h('ul', { class: 'shares' }, d.sites.map((s) =>
          h('li', null, h('a', { href: `#/blocks?${new URLSearchParams({ q: siteQuery(s) })}` },
            h('span', { class: 'num' }, number(s.count)), share(s.count, d.sites[0].count), h('span', { class: 'code' }, s.place, ' ', s.form || '')))))) : null))],
};
