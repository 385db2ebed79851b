// SPDX-License-Identifier: Apache-2.0
// Updates the page in place, so that focus and scroll positions stay.

const keyOf = (n) => (n.getAttribute && n.getAttribute('data-key')) || '';

const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function sync(old, fresh) {
  if (old.nodeType === 3) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes]) {
    if (name === 'style') old.style.cssText = value; // the page's policy forbids style attributes
    else if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  morph(old, fresh);
}

/** Gives `old` the children of `fresh`, and keeps those that are the same. Leaves a focused input alone. */
export function morph(old, fresh) {
  if (old === document.activeElement && old.nodeName === 'INPUT') return;
  const keyed = new Map([...old.childNodes].filter(keyOf).map((n) => [keyOf(n), n]));
  let at = old.firstChild;
  for (const want of [...fresh.childNodes]) {
    const key = keyOf(want);
    const have = key ? keyed.get(key) : at;
    if (have && alike(have, want)) {
      if (have !== at) old.insertBefore(have, at);
      else at = at.nextSibling;
      sync(have, want);
    } else {
      old.insertBefore(want, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}
