"use strict";
// Draws the runs that are embedded in the page, with charts.js before it; nothing is fetched.
(() => {
  const { HALF, bars, byId, colour, degrees, duration, element, facts, number, table, tiles } = charts;
  const runs = JSON.parse(byId("data").textContent);
  let current = 0;

  const legend = (id, names) => byId(id).replaceChildren(...names.map((name, i) => {
    const entry = element("span");
    entry.append(element("i", undefined, { style: `background:${colour(i)}` }), name);
    return entry;
  }));
  const bytes = (count) => {
    const power = count < 1000 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), 4);
    return number(count / 1000 ** power) + [" B", " kB", " MB", " GB", " TB"][power];
  };

  // One bar of the whole time: what is known of its parts.
  function drawTime() {
    const run = runs[current], inSteps = Math.min(run.stepSeconds, run.seconds), busy = {};
    for (const step of run.trace.steps) for (const [name, ms] of Object.entries(step.parts)) busy[name] = (busy[name] || 0) + ms / 1e3;
    const worked = Object.values(busy).reduce((sum, value) => sum + value, 0);
    const seconds = (key) => Math.min(run.trace.steps.reduce((sum, step) => sum + step[key] / 1e3, 0), inSteps);
    const withParts = seconds("partsMs"), reading = seconds("readingMs");
    // processors work at the same time: their shares of the supersteps are shown, not their sum
    const shares = Object.entries(busy).map(([name, value]) => [`supersteps: ${name}`, (withParts * value) / worked]);
    shares.push([worked > 0 ? "supersteps in memory" : "supersteps", inSteps - withParts - reading], ["reading the graph", reading]);
    const compiling = Math.min(run.compileSeconds, run.seconds - inSteps);
    const parts = [...shares, ["compiling, loading kernels", compiling], ["host: preparing, planning, results", Math.max(run.seconds - inSteps - compiling, 0)]].filter(([, value]) => value > 0);
    const whole = parts.reduce((sum, [, value]) => sum + value, 0) || 1;
    byId("time-bar").replaceChildren(...parts.map(([name, value], i) => element("div", undefined, { style: `width:${(100 * value) / whole}%;background:${colour(i)}`, title: `${name}: ${duration(value)}` })));
    legend("time-legend", parts.map(([name, value]) => `${name}: ${duration(value)} (${number(Math.round((1000 * value) / whole) / 10)} %)`));
  }

  function drawOthers() {
    const run = runs[current], others = run.otherPaths;
    byId("other-paths").hidden = others.length === 0;
    if (!others.length) return;
    const phases = new Set(others.map((cost) => cost.phase)).size > 1;
    const planned = (cost) => cost.path === "auto";
    const label = (cost) => (phases ? `${cost.phase}: ` : "") + (planned(cost) ? "as planned" : cost.path);
    const all = [...others].sort((a, b) => planned(b) - planned(a) || a.ms - b.ms);
    bars("other-paths-chart", all.map((cost) => cost.ms), {
      height: 200, label: "Milliseconds of each path", names: all.map(label), colours: (i) => colour(planned(all[i]) ? 0 : 1),
      titles: (i) => `${label(all[i])}: ${number(all[i].ms)} ms${all[i].stopped ? ", then stopped" : ""}`,
    });
    table("other-paths-table", [["path", "text"], ["ms"], ["supersteps"], ["", "text"]], all.map((cost) => [
      label(cost), cost.ms, cost.supersteps, cost.stopped ? "stopped: it took too long" : "",
    ]));
  }

  function drawSources() {
    const run = runs[current];
    byId("sources-section").hidden = run.sources.length === 0;
    byId("sources").replaceChildren(...run.sources.map((source) => {
      const fold = element("details");
      fold.append(element("summary", `${source.name} (${source.language})`), element("pre", source.text));
      return fold;
    }));
  }

  function drawSteps() {
    const run = runs[current], steps = run.trace.steps;
    const processors = [...new Set(steps.flatMap((step) => Object.keys(step.parts)))];
    const known = { read: steps.some((step) => step.read), sent: steps.some((step) => step.sent), parts: processors.length > 0 };
    for (const option of byId("metric").options) {
      option.hidden = option.disabled = known[option.value] === false;
      if (option.selected && option.disabled) byId("metric").value = "ms";
    }
    const metric = byId("metric").value, split = metric === "parts";
    const paths = [...new Set(steps.map((step) => step.path))];
    legend("legend", split ? processors : paths);
    const which = (step) => (step.last > step.first ? `${step.first}-${step.last}` : `${step.first}`);
    const phases = new Set(steps.map((step) => step.phase)).size > 1;
    const heads = [...(phases ? [["phase", "text"]] : []), ["superstep"], ["path", "text"], ["frontier"], ["out-edges"], ["messages"], ["bytes"], ...(known.read ? [["read"]] : []), ...(known.sent ? [["sent"]] : []), ["ms"], ...(known.parts ? [["ms by part", "text wrap"]] : []), ["why", "text reason"]];
    const told = (parts) => Object.entries(parts).map(([name, ms]) => `${name} ${number(ms)}`).join(", ");
    const rows = table("steps-table", heads, steps.map((step) => [
      ...(phases ? [step.phase] : []), which(step), step.path, step.frontier, step.edges, step.messages, step.bytes, ...(known.read ? [bytes(step.read)] : []), ...(known.sent ? [bytes(step.sent)] : []),
      step.ms, ...(known.parts ? [told(step.parts)] : []), step.reason,
    ]));
    const select = (i) => {
      rows.forEach((row, k) => row.classList.toggle("selected", k === i));
      drawn.forEach((bar, k) => bar.classList.toggle("selected", k === i));
      const step = steps[i];
      byId("detail").textContent = `${phases ? step.phase + ", s" : "S"}uperstep ${which(step)}: ${step.path}, ${number(step.ms)} ms. ${step.reason}`;
    };
    const drawn = bars("steps-chart", steps.map((step) => (split ? processors.map((name) => step.parts[name] || 0) : step[metric])), {
      log: byId("log").checked, label: "Supersteps", names: steps.map(which), onSelect: select,
      colours: (i, k) => colour(split ? k : paths.indexOf(steps[i].path)),
      titles: (i, k) => split ? `superstep ${which(steps[i])}\n${processors[k]}: ${number(steps[i].parts[processors[k]] || 0)} ms` : `superstep ${which(steps[i])}\n${steps[i].path}\n${number(steps[i].ms)} ms, frontier ${number(steps[i].frontier)}\n${steps[i].reason}`,
    });
    rows.forEach((row, i) => row.addEventListener("click", () => select(i)));
    const predicted = steps.filter((step) => step.predicted !== null);
    byId("prediction").hidden = predicted.length === 0;
    if (predicted.length) {
      legend("prediction-legend", ["predicted", "measured"]);
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
    drawTime();
    drawSteps();
    drawOthers();
    drawSources();
    table("memory-table", [["place", "text"], ["what", "text"], ["bytes"]], run.memory.map(([place, what, count]) => [place, what, bytes(count)]));
    facts("facts", run.graph.facts);
    degrees("degrees-chart", run.graph.degrees);
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
