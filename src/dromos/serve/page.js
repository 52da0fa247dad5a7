"use strict";
// Queries the server of the page, and draws with charts.js. Names of vertices are inserted by textContent only.
(() => {
  const { HALF, byId, canvas, colour, degrees, element, facts, number, shape, table, tiles } = charts;
  let graph = null, shown = null, running = null;

  const where = (route, query = {}) => {
    const words = new URLSearchParams(query).toString();
    return words ? `${route}?${words}` : route;
  };
  async function ask(route, query, body) {
    const how = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(where(route, query), how);
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error);
    return found;
  }
  // Shows an error on the page; the next call that succeeds hides it.
  async function attempt(work) {
    try {
      const found = await work();
      byId("trouble").hidden = true;
      return found;
    } catch (error) {
      byId("trouble").textContent = error.message;
      byId("trouble").hidden = false;
      return undefined;
    }
  }

  async function search() {
    const text = byId("search").value.trim();
    if (!text) return byId("found").replaceChildren();
    const names = await attempt(() => ask("api/search", { q: text }));
    if (names === undefined || byId("search").value.trim() !== text) return;
    const buttons = names.map((name) => {
      const button = element("button", name, { type: "button" });
      button.addEventListener("click", () => show(name));
      return button;
    });
    byId("found").replaceChildren(...(buttons.length ? buttons : [element("span", "no vertex has this in its name")]));
  }

  async function show(name) {
    const found = await attempt(() => ask("api/vertex", { v: name }));
    if (found === undefined) return;
    shown = name;
    history.replaceState(null, "", "#" + new URLSearchParams({ v: name, hops: byId("hops").value }));
    tiles("vertex", [["vertex", name], ["id", number(found.id)], [graph.directed ? "out-degree" : "degree", number(found.out)],
      ...(graph.directed ? [["in-degree", number(found.in)]] : [])]);
    const rows = [...found.outgoing.map((row) => [...row, "to"]), ...(found.incoming ?? []).map((row) => [...row, "from"])];
    const weighted = rows.some((row) => row[1] !== null);
    const heads = [...(graph.directed ? [["edge", "text"]] : []), ["neighbor", "text"], ...(weighted ? [["weight"]] : [])];
    const made = table("neighbours", heads, rows.map(([other, weight, way]) => [...(graph.directed ? [way] : []), other, ...(weighted ? [weight] : [])]));
    made.forEach((row, i) => row.addEventListener("click", () => show(rows[i][0])));
    const source = byId("argument-source");
    if (source) source.value = name;
    await draw(name);
  }

  // Springs along edges, repulsion between all: a few hundred steps are enough for so few vertices.
  function placed(net) {
    const count = net.vertices.length, length = 1 / Math.sqrt(Math.max(count, 1));
    const spots = net.hops.map((hop, i) => {
      const angle = (2 * Math.PI * i * 0.618034) % (2 * Math.PI);
      return [hop * 0.4 * Math.cos(angle), hop * 0.4 * Math.sin(angle)];
    });
    for (let step = 0; step < 300; step++) {
      const pulls = spots.map(() => [0, 0]);
      const push = (i, j, strength) => {
        const x = spots[i][0] - spots[j][0] + (i < j ? 1e-6 : -1e-6), y = spots[i][1] - spots[j][1];
        const far = Math.max(Math.hypot(x, y), 1e-4), force = strength(far);
        pulls[i][0] += (x / far) * force, pulls[i][1] += (y / far) * force;
        pulls[j][0] -= (x / far) * force, pulls[j][1] -= (y / far) * force;
      };
      for (let i = 0; i < count; i++) for (let j = i + 1; j < count; j++) push(i, j, (far) => (length * length) / far);
      for (const [i, j] of net.edges) push(i, j, (far) => (-far * far) / length);
      const heat = 0.1 * (1 - step / 300);
      for (let i = 1; i < count; i++) {
        const size = Math.max(Math.hypot(...pulls[i]), 1e-9);
        spots[i] = spots[i].map((value, axis) => value + (pulls[i][axis] / size) * Math.min(size, heat));
      }
    }
    const most = Math.max(...spots.flat().map(Math.abs), 1e-6);
    return spots.map(([x, y]) => [HALF / 2 + (x / most) * (HALF / 2 - 40), HALF / 2 + (y / most) * (HALF / 2 - 24)]);
  }

  async function draw(name) {
    const net = await attempt(() => ask("api/egonet", { v: name, hops: byId("hops").value }));
    if (net === undefined || name !== shown) return;
    const svg = canvas("egonet", HALF, HALF, `Surroundings of ${name}`);
    const spots = placed(net);
    svg.append(...net.edges.map(([i, j]) => shape("line", { class: "edge", x1: spots[i][0], y1: spots[i][1], x2: spots[j][0], y2: spots[j][1] })));
    net.vertices.forEach((vertex, i) => {
      const node = shape("circle", { class: "node", cx: spots[i][0], cy: spots[i][1], r: i ? 6 : 9, style: `fill:${colour(net.hops[i])}` });
      node.append(shape("title", {}, vertex));
      node.addEventListener("click", () => show(vertex));
      const right = spots[i][0] > HALF * 0.8; // the name would not fit to the right of it
      const place = { x: spots[i][0] + (right ? -9 : 9), y: spots[i][1] + 4, "text-anchor": right ? "end" : "start" };
      svg.append(node, shape("text", place, vertex.length > 16 ? vertex.slice(0, 15) + "…" : vertex));
    });
    byId("egonet-caption").textContent = `${number(net.vertices.length)} vertices, ${number(net.edges.length)} edges between them` +
      (net.left_out ? `; ${number(net.left_out)} with fewer edges are not drawn` : "") + ". Select one to go there.";
  }

  function choose() {
    const algorithm = graph.algorithms[byId("algorithm").value];
    byId("about").textContent = algorithm.about;
    byId("arguments").replaceChildren(...algorithm.arguments.map((argument) => {
      const label = element("label", argument.name + (argument.required ? " * " : " "));
      const value = argument.name === "source" ? shown ?? "" : argument.default ?? "";
      label.append(element("input", undefined, { id: `argument-${argument.name}`, value: String(value), placeholder: argument.kind, title: argument.kind }));
      return label;
    }));
  }

  async function run() {
    const name = byId("algorithm").value;
    const words = Object.fromEntries(graph.algorithms[name].arguments.map((argument) => [argument.name, byId(`argument-${argument.name}`).value]));
    const started = await attempt(() => ask("api/run", {}, { name, arguments: words }));
    if (started === undefined) return;
    running = started.run;
    byId("run").disabled = true;
    byId("stop").hidden = byId("progress").hidden = false;
    byId("answer").hidden = byId("report").hidden = byId("open").hidden = true;
    let now = { changes: -1, state: "" };
    while (now !== undefined && !["done", "failed", "stopped"].includes(now.state)) {
      now = await attempt(() => ask("api/run", { n: started.run, seen: now.changes }));
      if (now !== undefined) tell(now);
    }
    byId("run").disabled = false;
    byId("stop").hidden = byId("progress").hidden = true;
  }
  function tell(now) {
    if (now.total) byId("progress").max = now.total, byId("progress").value = now.done;
    else byId("progress").removeAttribute("value");
    byId("state").textContent = now.state === "running"
      ? `${now.name}: superstep ${number(now.done)}${now.total ? " of at most " + number(now.total) : ""}` : `${now.name}: ${now.state}`;
    if (!["done", "failed"].includes(now.state)) return;
    byId("answer").textContent = now.message;
    byId("answer").hidden = false;
    if (now.state !== "done") return;
    byId("open").href = byId("report").src = where("report", { n: now.run });
    byId("open").hidden = byId("report").hidden = false;
  }

  async function begin() {
    graph = await attempt(() => ask("api/graph"));
    if (graph === undefined) return;
    byId("title").textContent = graph.title;
    byId("subtitle").textContent = `${graph.facts.vertices} vertices, ${graph.facts.edges} edges, ${graph.directed ? "directed" : "undirected"}`;
    facts("facts", graph.facts);
    degrees("degrees-chart", graph.degrees);
    byId("algorithm").replaceChildren(...Object.keys(graph.algorithms).map((name) => element("option", name)));
    byId("algorithm").value = "bfs";
    choose();
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.get("hops") === "2") byId("hops").value = "2";
    if (asked.has("v")) {
      byId("search").value = asked.get("v");
      await show(asked.get("v"));
    }
  }
  byId("search").addEventListener("input", search);
  byId("search").addEventListener("keydown", (event) => event.key === "Enter" && show(byId("search").value.trim()));
  byId("hops").addEventListener("change", () => shown !== null && show(shown));
  byId("algorithm").addEventListener("change", choose);
  byId("run").addEventListener("click", run);
  byId("stop").addEventListener("click", () => attempt(() => ask("api/stop", {}, { n: running })));
  window.ready = begin();
})();
