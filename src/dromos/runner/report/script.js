"use strict";
// Draws the runs that are embedded in the page, with charts.js before it; nothing is fetched.
(() => {
  const { HALF, bars, byId, colour, degrees, duration, element, facts, number, table, tiles } = charts;
  const runs = JSON.parse(byId("data").textContent);
  let current = 0;

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
