"use strict";
(() => {
  // Texts are strangers' words: they only ever become text nodes, never markup.
  const data = JSON.parse(document.getElementById("traces").textContent);
  const list = document.querySelector(".case-list");
  const cases = [...list.children];
  const numbers = new Map(cases.map((one, number) => [one, number]));
  const filters = document.querySelector(".filters");
  const fields = [...filters.querySelectorAll("select, input")];
  const count = filters.querySelector("output");
  const nothing = document.querySelector(".nothing");
  const built = new Set();
  const haystacks = new Map();

  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children.filter((one) => one !== null && one !== undefined));
    return made;
  }

  function passage(tag, className, text) {
    const made = element(tag, className, text);
    made.dir = "auto";
    return made;
  }

  const shown = (value, digits = 3) => (value === null ? "unknown" : value.toFixed(digits));
  const signed = (value) => (value === null ? "unknown" : (value < 0 ? "\u2212" : "+") + Math.abs(value).toFixed(2));
  const words = (at) => data.words[at].replaceAll("_", " ");

  function section(title, ...children) {
    return element("section", "part", element("h4", "", title), ...children);
  }

  function folded(title, ...children) {
    return element("details", "fold", element("summary", "", title), ...children);
  }

  const number = (text) => ({ text });

  // A cell is a text, an element, or a number, which stands on the right.
  function row(tag, ...cells) {
    return element("tr", "", ...cells.map((one) => (one.text === undefined ? element(tag, "", one) : element(tag, "number", one.text))));
  }

  function table(head, rows) {
    return element("div", "scroll", element("table", "", element("thead", "", row("th", ...head)), element("tbody", "", ...rows)));
  }

  function evidence([label, at, relevance, score, parts, cited]) {
    const [chunk, , text] = data.chunks[at];
    const summary = element(
      "summary", "",
      element("span", cited ? "label" : "label unused", label), " ",
      element("code", "", chunk), " ",
      element("span", "cited-mark", cited ? "cited" : "not cited"),
      element("span", "score", `relevance ${shown(relevance)}, score ${shown(score)} = `,
        parts.map(([word, value], index) => (index ? signed(value) : shown(value, 2)) + " " + words(word)).join(" ") || "unexplained"),
    );
    const shownText = text === null ? element("p", "note", "The text of this passage was not kept.") : passage("p", "passage", text.trim());
    const item = element("details", "evidence", summary, shownText);
    item.open = cited;
    return element("li", "", item);
  }

  function conflict(one) {
    const ruling = one.winner === null
      ? `${one.kind}: nothing decides (${one.policy})`
      : `${one.kind}: ${one.winner} is followed, by ${String(one.decided_by).replaceAll("_", " ")} (${one.policy})`;
    return element("div", "conflict", element("p", "", ruling), element("ul", "", ...one.positions.map((side) =>
      element("li", side.followed || side.label === one.winner ? "followed" : "",
        element("span", "label", side.label), " ", element("b", "", side.shown), " ", element("code", "", side.document_id),
        side.sentence ? passage("p", "claim", side.sentence) : null))));
  }

  function attempt(one, index) {
    const by = `Draft ${index + 1}, ${one.by}${one.model ? ` (${one.model})` : ""}: `;
    const problems = one.problems.length ? one.problems.join("; ") : "nothing wrong, it was used";
    return element("li", "", passage("span", "", by + problems), one.text ? passage("p", "claim", one.text) : null);
  }

  function steps(taken) {
    const longest = Math.max(...taken.map(([, time]) => time), 0.001);
    return table(["Step", number("Milliseconds"), ""], taken.map(([word, time]) => {
      const bar = element("i", "time");
      bar.style.width = `${(100 * time) / longest}%`;
      return row("td", words(word), number(shown(time, 1)), bar);
    }));
  }

  function plain(value) {
    return typeof value === "string" ? value : JSON.stringify(value);
  }

  function pairs(value) {
    return element("dl", "facts", ...Object.entries(value).map(([name, one]) =>
      element("div", "", element("dt", "", name.replaceAll("_", " ")), passage("dd", "", Array.isArray(one) ? one.map(plain).join(", ") : plain(one)))));
  }

  function texts(values) {
    return element("ul", "", ...values.map((one) => passage("li", "", one)));
  }

  function build(item) {
    if (built.has(item)) return;
    built.add(item);
    const { scores, trace } = data.cases[numbers.get(item)];
    const place = item.querySelector(".trace");
    if (scores.length) {
      place.append(section("Scores", element("dl", "scores", ...scores.map(([word, value, low]) =>
        element("div", low ? "low" : "", element("dt", "", words(word)), element("dd", "", shown(value, 2)))))));
    }
    if (!trace) return;
    if (trace.reason) place.append(section("Why it ended so", passage("p", "", trace.reason)));
    if (trace.evidence) place.append(section("Evidence, best first", element("ol", "ranked", ...trace.evidence.map(evidence))));
    if (trace.conflicts) place.append(section("Conflicts", ...trace.conflicts.map(conflict)));
    if (trace.notes) place.append(section("Notes", texts(trace.notes)));
    if (trace.think) place.append(section("Does the evidence suffice", passage("p", "", trace.think)));
    if (trace.attempts) place.append(section("Drafts", element("ul", "", ...trace.attempts.map(attempt))));
    if (trace.rejected) {
      place.append(folded(`Rejected: ${trace.rejected.length}`, table(["Passage", number("Relevance"), "Why"],
        trace.rejected.map(([chunk, reason, relevance]) => row("td", element("code", "", data.chunks[chunk][0]), number(relevance === null ? "" : shown(relevance)), data.words[reason])))));
    }
    const searched = [];
    if (trace.queries) searched.push(section("Queries", texts(trace.queries)));
    if (trace.sources) searched.push(section("Sources that were searched", element("p", "", trace.sources.join(", "))));
    if (trace.scope) searched.push(section("Scope", pairs(trace.scope)));
    for (const call of trace.tools || []) searched.push(section("Tool call", pairs(call)));
    if (searched.length) place.append(folded("How it was searched", ...searched));
    if (trace.steps) place.append(folded(`Steps: ${trace.steps.reduce((sum, [, time]) => sum + time, 0).toFixed(0)} ms`, steps(trace.steps)));
    place.append(element("p", "trace-id", "trace ", element("code", "", trace.id)));
  }

  function haystack(item) {
    if (!haystacks.has(item)) {
      const said = [...item.querySelectorAll("[data-find]")].map((one) => one.textContent);
      const { trace } = data.cases[numbers.get(item)];
      const found = trace && trace.evidence ? trace.evidence.map((one) => data.chunks[one[1]][0]) : [];
      haystacks.set(item, [...said, ...found, trace ? trace.id : ""].join("\n").toLowerCase());
    }
    return haystacks.get(item);
  }

  function matches(item, wanted) {
    return Object.entries(wanted).every(([name, value]) => {
      if (!value) return true;
      if (name === "q") return value.toLowerCase().split(/\s+/).every((word) => haystack(item).includes(word));
      if (name === "source") return JSON.parse(item.dataset.source).includes(value);
      return item.dataset[name] === value;
    });
  }

  function filter() {
    const wanted = Object.fromEntries(fields.map((one) => [one.name, one.value.trim()]));
    let visible = 0;
    for (const item of cases) {
      item.hidden = !matches(item, wanted);
      visible += item.hidden ? 0 : 1;
    }
    count.value = visible === cases.length ? `${visible} cases` : `${visible} of ${cases.length} cases`;
    nothing.hidden = visible > 0 || !cases.length;
    return wanted;
  }

  function remember(wanted) {
    const set = Object.entries(wanted).filter(([, value]) => value);
    // Not by location.hash: an empty one would scroll to the top.
    history.replaceState(null, "", set.length ? `#${new URLSearchParams(set)}` : location.pathname + location.search);
  }

  function set(values) {
    for (const one of fields) one.value = values.get(one.name) || "";
  }

  function follow() {
    const fragment = location.hash.slice(1);
    if (!fragment.includes("=")) return filter();
    const values = new URLSearchParams(fragment);
    if (!fragment.startsWith("case=")) {
      set(values);
      filter();
      list.parentElement.scrollIntoView();
      return undefined;
    }
    const found = document.getElementById(fragment.split("&")[0]);
    if (found && found.matches(".case")) {
      if (!matches(found, Object.fromEntries(fields.map((one) => [one.name, one.value.trim()])))) set(new URLSearchParams());
      filter();
      found.open = true;
      build(found);
      const at = values.get("at") && document.getElementById(fragment);
      (at || found).scrollIntoView();
      if (!at) found.querySelector("summary").focus({ preventScroll: true });
    } else {
      filter();
      if (found) found.scrollIntoView();
    }
    return undefined;
  }

  // A toggle does not bubble, but it can be caught on its way down.
  list.addEventListener("toggle", (event) => {
    if (event.target.matches(".case") && event.target.open) build(event.target);
  }, true);
  // A choice need not be an input, and a text changes before it is left.
  for (const kind of ["input", "change"]) filters.addEventListener(kind, () => remember(filter()));
  filters.addEventListener("click", (event) => {
    if (event.target.name === "reset") {
      set(new URLSearchParams());
      remember(filter());
    } else if (event.target.name === "unfold" || event.target.name === "fold") {
      for (const item of cases) if (!item.hidden) item.open = event.target.name === "unfold";
    }
  });
  window.addEventListener("hashchange", follow);
  filters.hidden = false;
  follow();
})();
