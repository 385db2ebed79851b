// SPDX-License-Identifier: Apache-2.0
// One block, or one channel: why and for what it waits, and what waits for it.

import { h, badge, none, number, plural, section, source, time, words } from './dom.js';
import { buffer } from './tables.js';

const blockLink = (b) => (b.id || b.block) ? h('a', { href: `#/block/${b.id || b.block}` }, b.name) : b.name;

const line = (b) => [blockLink(b), b.state || b.since >= 0 ? `, ${b.state || 'waiting'}` : '', b.since !== null && b.since !== undefined ? ` for ${time(b.since)}` : '',
  b.place ? [', ', h('span', { class: 'code' }, `${b.place} ${b.form || ''}`)] : ''];

const list = (rows) => h('ul', { class: 'plain' }, rows.map((b, i) => h('li', { 'data-key': `${b.id || b.block || b.name}-${i}` }, line(b))));

const channelLine = (c) => [h('a', { href: `#/channel/${c.id}` }, c.name), c.buffer ? [', buffer ', buffer(c.buffer)] : '',
  `, ${plural(c.takes, 'taker')} and ${plural(c.puts, 'putter')}`, c.closed ? ', closed' : '',
  c.remaining !== null && c.remaining !== undefined ? `, ${time(c.remaining)} left` : ''];

const optional = (title, rows, show = list) => rows?.length ? section(title, show(rows)) : null;

export const block = {
  title: 'Block',
  missing: 'This block has ended, or never existed.',
  data: (get, r) => get('block', { id: r.id }),
  render: (b) => [
    h('div', { class: 'title' }, h('h1', null, b.name), h('span', { class: `state ${b.state}` }, b.state),
      h('a', { class: 'to', href: `#/graph?of=block-${b.id}&hops=3` }, 'Graph')),
    h('p', { class: 'says' }, b.report ? [badge(b.report.rank), ' '] : '', words(b.report ? b.report.says : b.says)),
    b.report && b.ends !== 'cycle' && b.report.says !== b.says ? h('p', { class: 'says' }, words(b.says)) : null,
    h('p', { class: 'quiet' }, [
      b.age !== null && b.age !== undefined ? `Made ${time(b.age)} ago` : 'Its age is not known', b.runs !== null && b.runs !== undefined ? `, ${plural(b.runs, 'step')}` : '',
      b['in-try'] ? ', inside a try' : '', b.scope ? `, in scope ${b.scope}` : b.cancellable ? ', can be cancelled' : '',
      b.refused ? `, ${plural(b.refused, 'operation')} refused by a closed channel` : '', '.'].join('')),
    b.source ? source(b.source) : h('p', { class: 'note' }, `${b.file || 'Its source'}${b.line ? `:${b.line}` : ''} is not on the class path of the process: `, h('code', null, b.form || '')),
    b.on ? section('It runs on a thread', h('p', null, `${b.on.name}, ${b.on.state}, at ${b.on.place || 'an unknown place'}.`), source(b.on.source)) : null,
    optional('It waits in', b['waits-in'], (cs) => h('ul', { class: 'plain' }, cs.map((c) =>
      h('li', null, `to ${c.op} `, c.op === 'put' ? 'on ' : 'from ', channelLine(c), c['in-queue'] ? `, number ${number(c['in-queue'])} in the queue` : '')))),
    b.chain?.length > 1 ? section('The chain of waits', h('ol', { class: 'chain' }, b.chain.map((c) => h('li', null, line(c))))) : null,
    optional('Waiters for its result', b.awaited, (levels) => h('ol', { class: 'chain' }, levels.map((l) => h('li', null, l.map((w, i) => [i ? '; ' : '', line(w)]))))),
    optional('It holds channels in which somebody waits', b.holds, (cs) => h('ul', { class: 'plain' }, cs.map((c) => h('li', null, channelLine(c))))),
    optional('Made by', b['spawned-by']),
    optional('Blocks that it has made', b.made)],
};

const waiters = (title, rows, n) => n ? section(title, list(rows), n > rows.length ? none(`and ${number(n - rows.length)} more`) : null) : null;

export const channel = {
  title: 'Channel',
  missing: 'Nobody waits in this channel now.',
  data: (get, r) => get('channel', { id: r.id }),
  render: (c) => [
    h('div', { class: 'title' }, h('h1', null, c.name), c.closed ? h('span', { class: 'state' }, 'closed') : null,
      h('a', { class: 'to', href: `#/graph?of=channel-${c.id}&hops=2` }, 'Graph')),
    h('p', { class: 'says' }, words(c.says)),
    c.buffer ? h('p', null, 'Buffer ', h('span', { class: 'code' }, c.buffer.type), ': ', buffer(c.buffer), '.') : null,
    c.remaining !== null && c.remaining !== undefined ? h('p', null, `It closes in ${time(c.remaining)}.`) : null,
    waiters('To take', c.taking, c.takes),
    waiters('To put', c.putting, c.puts),
    c.holders.length ? section('Held in locals of', list(c.holders)) : null],
};
