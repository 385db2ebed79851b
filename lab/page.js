// SPDX-License-Identifier: Apache-2.0
// Draws the plots, again when the page's colours change between light and dark, or its width does.
'use strict';
(() => {
  const themes = {
    light: { ink: '#1f2430', faint: '#626a78', line: '#dcd9d0',
             series: { Skein: '#1757b8', others: '#a8a294' },
             more: ['#c2571a', '#7a4fb5', '#3d8b63', '#b0447d', '#8a7a1f', '#5f6b7a'] },
    dark: { ink: '#e4e6eb', faint: '#9aa3b2', line: '#333a46',
            series: { Skein: '#7db2ff', others: '#6f7480' },
            more: ['#f0945c', '#bfa0f2', '#74c69d', '#ec8fbd', '#d9c65a', '#9fb0c3'] }
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const shapes = ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down'];

  function colours(theme, names) {
    let next = 0;
    const ours = names.filter(name => /^skein/i.test(name));
    return names.map(name =>
      theme.series[name] || (name === ours[0] ? theme.series.Skein : theme.more[next++ % theme.more.length]));
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
      axisY: { labelLimit: Math.round(width * 0.38) },
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
