"use strict";
// What the pages of Dromos draw with: numbers, tables, tiles and bars. No library; text goes in by textContent only.
const charts = (() => {
  const byId = (id) => document.getElementById(id);
  const SVG = document.createRange().createContextualFragment("<svg/>").firstChild.namespaceURI;
  const WIDE = 1040, HALF = 500;

  const number = (value) =>
    typeof value !== "number" ? String(value)
      : Number.isInteger(value) ? value.toLocaleString("en-US")
      : Math.abs(value) >= 1000 ? value.toLocaleString("en-US", { maximumFractionDigits: 0 })
      : String(Number(value.toPrecision(4)));
  const duration = (seconds) =>
    seconds >= 1 ? number(seconds) + " s" : seconds >= 1e-3 ? number(seconds * 1e3) + " ms" : number(seconds * 1e6) + " us";
  const colour = (index) => `var(--c${index % 8})`;

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }
  function shape(tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function canvas(id, width, height, label) {
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    byId(id).replaceChildren(svg);
    return svg;
  }
  function tiles(id, entries) {
    byId(id).replaceChildren(...entries.map(([name, value]) => {
      const tile = element("div", undefined, { class: "tile" });
      tile.append(element("b", value), element("span", name));
      return tile;
    }));
  }
  function table(id, heads, rows) {
    const head = element("tr");
    head.append(...heads.map(([name, kind]) => element("th", name, kind ? { class: kind } : {})));
    const top = element("thead");
    top.append(head);
    const body = element("tbody");
    body.append(...rows.map((cells) => {
      const row = element("tr");
      row.append(...cells.map((cell, i) => element("td", typeof cell === "number" ? number(cell) : cell ?? "", heads[i][1] ? { class: heads[i][1] } : {})));
      return row;
    }));
    byId(id).replaceChildren(top, body);
    return [...body.children];
  }
  // Bars over a baseline, with a few marks on the left axis. values[i] may be a list: bars side by side.
  function bars(id, values, { width = WIDE, height = 240, log = false, label, names, colours, titles, onSelect }) {
    const svg = canvas(id, width, height, label);
    const left = 66, bottom = height - 28, top = 12;
    const flat = values.flat().filter((value) => value > 0);
    const most = Math.max(...flat, 0), least = flat.length ? Math.min(...flat) : 1;
    const low = log ? Math.log10(least) - 0.3 : 0, high = log ? Math.log10(most || 1) : most;
    const place = (value) =>
      value <= 0 ? bottom : bottom - (bottom - top) * (high === low ? 1 : ((log ? Math.log10(value) : value) - low) / (high - low));
    const marks = log ? [...Array(Math.max(Math.ceil(high) - Math.floor(low) + 1, 1)).keys()].map((i) => 10 ** (Math.floor(low) + i)).filter((m) => m <= most * 1.01 && place(m) <= bottom) : [0.5, 1].map((share) => most * share);
    for (const mark of marks) {
      if (!(mark > 0)) continue;
      svg.append(shape("line", { class: "axis", x1: left, x2: width - 4, y1: place(mark), y2: place(mark) }));
      svg.append(shape("text", { x: left - 6, y: place(mark) + 4, "text-anchor": "end" }, number(mark)));
    }
    svg.append(shape("line", { class: "axis", x1: left, x2: width - 4, y1: bottom, y2: bottom }));
    const slot = (width - left - 8) / Math.max(values.length, 1);
    const every = Math.ceil((values.length * 60) / (width - left));
    const drawn = values.map((group, i) => {
      const list = Array.isArray(group) ? group : [group];
      const wide = Math.max(Math.min(slot * 0.84, 90 * list.length), 0.6);
      const begin = left + 4 + slot * i + (slot - wide) / 2;
      const made = list.map((value, k) => {
        const y = Math.min(place(value), bottom - (value > 0 ? 1 : 0));
        const bar = shape("rect", { class: "bar", x: begin + (wide / list.length) * k, y, width: wide / list.length, height: Math.max(bottom - y, 0), rx: wide > 8 ? 2 : 0, style: `fill:${colours(i, k)}` });
        bar.append(shape("title", {}, titles(i, k)));
        if (onSelect) bar.addEventListener("click", () => onSelect(i));
        svg.append(bar);
        return bar;
      });
      if (names && i % every === 0) {
        svg.append(shape("text", { x: left + 4 + slot * (i + 0.5), y: bottom + 17, "text-anchor": "middle" }, names[i]));
      }
      return made[0];
    });
    return drawn;
  }
  function facts(id, entries) {
    byId(id).replaceChildren(...Object.entries(entries).map(([name, value]) => {
      const row = element("tr");
      row.append(element("th", name), element("td", value));
      return row;
    }));
  }
  // The degree distribution: bins of the lowest degree, the highest degree, and the number of vertices.
  function degrees(id, bins) {
    bars(id, bins.map((bin) => bin[2]), {
      width: HALF, height: 220, log: true, label: "Degree distribution", names: bins.map((bin) => number(bin[0])), colours: () => colour(2),
      titles: (i) => `degree ${number(bins[i][0])}${bins[i][1] > bins[i][0] ? " to " + number(bins[i][1]) : ""}: ${number(bins[i][2])} vertices`,
    });
  }
  return { HALF, bars, byId, canvas, colour, degrees, duration, element, facts, number, shape, table, tiles };
})();
