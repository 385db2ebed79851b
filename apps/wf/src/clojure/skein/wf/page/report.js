// SPDX-License-Identifier: Apache-2.0
// The tables of a report: titles sort, and a button opens a long table. The page of --html holds this script; the page of --serve loads
// it, and then asks the server for the order and the rows, because it does not have them all.

const report = (() => {
  const few = 10;
  const wanted = new Map(); // what the reader wants of a table, by the name of its section: {by, up, all}
  let asked = null;

  const value = (row, i) => { const { n } = row.cells[i].dataset; return n === undefined ? row.cells[i].textContent : +n; };

  function sort(body, { by, up }) {
    const before = (a, b) => { const x = value(a, by); const y = value(b, by); return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1); };
    body.append(...[...body.rows].sort(before));
  }

  function show(section) {
    const { tHead: head, tBodies: [body] } = section.querySelector('table');
    const want = wanted.get(section.id) || {};
    const total = +section.dataset.rows;
    [...head.rows[0].cells].forEach((th, i) => {
      if (i === want.by) th.setAttribute('aria-sort', want.up ? 'ascending' : 'descending'); else th.removeAttribute('aria-sort');
    });
    [...body.rows].forEach((row, i) => { row.hidden = !want.all && i >= few; });
    const button = section.querySelector('button.all');
    button.hidden = total <= few;
    button.textContent = want.all ? 'Fewer rows' : `All ${total.toLocaleString('en-US')} rows`;
  }

  function change(section, want) {
    wanted.set(section.id, { ...wanted.get(section.id), ...want });
    if (asked) { asked(); return; }
    if (want.by !== undefined) sort(section.querySelector('tbody'), want);
    show(section);
  }

  document.addEventListener('click', (e) => {
    const button = e.target.closest('button');
    const section = button?.closest('section');
    if (!section) return;
    if (button.className === 'all') change(section, { all: !wanted.get(section.id)?.all });
    if (button.parentNode.nodeName === 'TH') {
      const by = button.parentNode.cellIndex;
      const is = wanted.get(section.id);
      const text = button.parentNode.matches(':last-child');
      change(section, { by, up: is?.by === by ? !is.up : text });
    }
  });

  const showAll = () => document.querySelectorAll('section[data-rows]').forEach(show);
  showAll();
  return { wanted, showAll, ask(f) { asked = f; } };
})();
