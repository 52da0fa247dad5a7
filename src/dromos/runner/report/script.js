"use strict";
// Draws the runs that are embedded in the page. No library, nothing fetched; text goes in by textContent only.
(() => {
  const runs = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const SVG = document.createRange().createContextualFragment("<svg/>").firstChild.namespaceURI;
  const WIDE = 1040, HALF = 500;
  let current = 0;

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

  function drawSteps() {
    const run = runs[current], steps = run.trace.steps, metric = byId("metric").value;
    const paths = [...new Set(steps.map((step) => step.path))];
    byId("legend").replaceChildren(...paths.map((path, i) => {
      const entry = element("span");
      entry.append(element("i", undefined, { style: `background:${colour(i)}` }), path);
      return entry;
    }));
    const which = (step) => (step.last > step.first ? `${step.first}-${step.last}` : `${step.first}`);
    const phases = new Set(steps.map((step) => step.phase)).size > 1;
    const heads = [...(phases ? [["phase", "text"]] : []), ["superstep"], ["path", "text"], ["frontier"], ["out-edges"], ["messages"], ["bytes"], ["ms"], ["why", "text reason"]];
    const rows = table("steps-table", heads, steps.map((step) => [
      ...(phases ? [step.phase] : []), which(step), step.path, step.frontier, step.edges, step.messages, step.bytes, step.ms, step.reason,
    ]));
    const select = (i) => {
      rows.forEach((row, k) => row.classList.toggle("selected", k === i));
      drawn.forEach((bar, k) => bar.classList.toggle("selected", k === i));
      const step = steps[i];
      byId("detail").textContent = `${phases ? step.phase + ", s" : "S"}uperstep ${which(step)}: ${step.path}, ${number(step.ms)} ms. ${step.reason}`;
    };
    const drawn = bars("steps-chart", steps.map((step) => step[metric]), {
      log: byId("log").checked, label: "Supersteps", names: steps.map(which), onSelect: select,
      colours: (i) => colour(paths.indexOf(steps[i].path)),
      titles: (i) => `superstep ${which(steps[i])}\n${steps[i].path}\n${number(steps[i].ms)} ms, frontier ${number(steps[i].frontier)}\n${steps[i].reason}`,
    });
    rows.forEach((row, i) => row.addEventListener("click", () => select(i)));
    const predicted = steps.filter((step) => step.predicted !== null);
    byId("prediction").hidden = predicted.length === 0;
    if (predicted.length) {
      bars("prediction-chart", predicted.map((step) => [step.predicted, step.ms]), {
        label: "Predicted and measured milliseconds", names: predicted.map(which), colours: (i, k) => colour(k),
        titles: (i, k) => `superstep ${which(predicted[i])}: ${k ? "measured" : "predicted"} ${number(k ? predicted[i].ms : predicted[i].predicted)} ms`,
      });
    }
  }

  function drawField() {
    const field = runs[current].fields[byId("field").selectedIndex];
    if (!field || !field.counts) {
      byId("field-chart").replaceChildren();
      byId("field-caption").textContent = field ? `${field.name}: ${field.dtype}, no finite number` : "";
      return;
    }
    bars("field-chart", field.counts, {
      width: HALF, height: 220, log: true, label: `Distribution of ${field.name}`, names: field.counts.map((_, i) => number(field.edges[i])), colours: () => colour(0),
      titles: (i) => `${number(field.edges[i])} to ${number(field.edges[i + 1])}: ${number(field.counts[i])}`,
    });
    byId("field-caption").textContent =
      `${field.name} (${field.dtype}): ${number(field.min)} to ${number(field.max)}, median ${number(field.median)}, ` +
      `${number(field.finite)} finite; heights logarithmic`;
  }

  function drawRun() {
    const run = runs[current];
    byId("title").textContent = run.name;
    byId("subtitle").textContent = `${run.graph.facts.vertices} vertices, ${run.graph.facts.edges} edges, on ${run.device}`;
    byId("version").textContent = run.version;
    [...byId("runs").children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === current)));
    const inSteps = Math.min(run.stepSeconds, run.seconds);
    tiles("overview", [
      ["in all", duration(run.seconds)], ["in supersteps", duration(inSteps)],
      ["compiling, loading kernels", duration(run.compileSeconds)],
      ["preparing, planning, results", duration(Math.max(run.seconds - inSteps - run.compileSeconds, 0))],
      ["supersteps", number(run.supersteps)], ["paths", number(Object.keys(run.paths).length)],
      ["ended", run.finished || "one kernel or limit"],
    ]);
    drawSteps();
    byId("facts").replaceChildren(...Object.entries(run.graph.facts).map(([name, value]) => {
      const row = element("tr");
      row.append(element("th", name), element("td", value));
      return row;
    }));
    const degrees = run.graph.degrees;
    bars("degrees-chart", degrees.map((bin) => bin[2]), {
      width: HALF, height: 220, log: true, label: "Degree distribution", names: degrees.map((bin) => number(bin[0])), colours: () => colour(2),
      titles: (i) => `degree ${number(degrees[i][0])}${degrees[i][1] > degrees[i][0] ? " to " + number(degrees[i][1]) : ""}: ${number(degrees[i][2])} vertices`,
    });
    tiles("values", Object.entries(run.values).map(([name, value]) => [name, number(value)]));
    byId("field").replaceChildren(...run.fields.map((field) => element("option", field.name)));
    drawField();
    if (run.top) table("top", [["vertex", "text"], [run.top.field]], run.top.rows);
    else byId("top").replaceChildren();
  }

  function drawComparison() {
    if (runs.length < 2) return;
    byId("comparison").hidden = false;
    const names = runs.map((run, i) => `${i + 1}. ${run.name} (${run.device})`);
    bars("comparison-chart", runs.map((run) => run.seconds * 1e3), {
      height: 200, label: "Milliseconds of each run", names, colours: (i) => colour(i), onSelect: show,
      titles: (i) => `${names[i]}: ${duration(runs[i].seconds)}`,
    });
    table("comparison-table", [["run", "text"], ["time"], ["in supersteps"], ["supersteps"], ["paths", "text"]], runs.map((run, i) => [
      names[i], duration(run.seconds), duration(run.stepSeconds), run.supersteps,
      Object.entries(run.paths).map(([path, count]) => `${path} ${count}`).join(", "),
    ]));
    byId("runs").replaceChildren(...names.map((name, i) => {
      const button = element("button", name, { type: "button" });
      button.addEventListener("click", () => show(i));
      return button;
    }));
  }
  function show(index) {
    current = index;
    drawRun();
  }

  byId("metric").addEventListener("change", drawSteps);
  byId("log").addEventListener("change", drawSteps);
  byId("field").addEventListener("change", drawField);
  drawComparison();
  drawRun();
})();
