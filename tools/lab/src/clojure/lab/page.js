// SPDX-License-Identifier: Apache-2.0
// Draws the plots, and redraws them when the page's width or colour scheme changes.
'use strict';
(() => {
  const themes = {
    light: { ink: '#1f2430', faint: '#626a78', line: '#dcd9d0',
             ours: '#1757b8', v17: '#c2571a', v19: '#7a4fb5', clojure: '#3d8b63', others: '#a8a294',
             more: ['#b0447d', '#8a7a1f', '#2a8a96'] },
    dark: { ink: '#e4e6eb', faint: '#9aa3b2', line: '#333a46',
            ours: '#7db2ff', v17: '#f0945c', v19: '#bfa0f2', clojure: '#74c69d', others: '#7d8390',
            more: ['#ec8fbd', '#d9c65a', '#69c3cf'] }
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const shapes = ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down'];

  // A contestant has one colour on the whole page.
  function colours(theme, names) {
    const known = [[/^skein( go)?$/i, theme.ours], [/^core\.async 1\.7/, theme.v17], [/^core\.async 1\.9/, theme.v19],
                   [/^clojure$/i, theme.clojure], [/^(others|published)$/, theme.others]];
    let next = 0;
    return names.map(name => (known.find(([pattern]) => pattern.test(name)) || [])[1] ||
                             theme.more[next++ % theme.more.length]);
  }

  function themed(spec, width) {
    const theme = dark.matches ? themes.dark : themes.light;
    const copy = structuredClone(spec);
    const names = copy.encoding.color.scale.domain;
    copy.encoding.color.scale.range = colours(theme, names);
    if (copy.encoding.shape) copy.encoding.shape.scale.range = names.map((_, i) => shapes[i % shapes.length]);
    if (width < 480 && copy.encoding.color.legend) copy.encoding.color.legend.columns = 1;
    copy.width = width;
    copy.autosize = { type: 'fit-x', contains: 'padding' };
    copy.background = null;
    const text = { labelColor: theme.ink, titleColor: theme.faint, titleFontWeight: 'normal', labelFontSize: 12, titleFontSize: 12 };
    copy.config = {
      font: 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
      axis: { ...text, domainColor: theme.line, gridColor: theme.line, tickColor: theme.line },
      axisY: { labelLimit: Math.round(width * 0.45) },
      legend: text, view: { stroke: null }
    };
    return copy;
  }

  function draw() {
    for (const place of document.querySelectorAll('.plot > div')) {
      const spec = JSON.parse(place.nextElementSibling.textContent);
      place.replaceChildren();
      const view = new vega.View(vega.parse(vegaLite.compile(themed(spec, place.clientWidth)).spec),
                                 { renderer: 'svg', container: place, hover: true });
      view.runAsync();
    }
  }

  let width = innerWidth;
  dark.addEventListener('change', draw);
  addEventListener('resize', () => { if (width !== innerWidth) { width = innerWidth; draw(); } });
  draw();
})();
