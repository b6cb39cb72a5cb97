/* The reachability matrix: filtered, sorted and shown a page at a time. */
const PAGE_SIZES = [50, 100, 500];

class Explorer {
  constructor(catalog, sheet) {
    this.catalog = catalog;
    this.sheet = sheet;
    this.form = byId("filters");
    this.size = PAGE_SIZES[0];
    this.sorted = { apps: ["callable", -1], capabilities: ["name", 1] };
    this.set = null;
    this.ranks = new Map();
    let timer = 0;
    this.form.addEventListener("input", (event) => {
      clearTimeout(timer);
      timer = setTimeout(() => this.filter(), event.target.type === "search" ? 120 : 0);
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("reset", () => setTimeout(() => this.choose({})));
    this.form.hidden = false;
    this.filter();
  }

  /** Set filters by name, the rest to what they are at first, and go there. */
  choose({ set = null, ...values }) {
    this.form.querySelectorAll("select, input[type=search]").forEach((field) => {
      field.value = values[field.name] ?? "";
    });
    this.form.elements.show.value = "apps";
    this.set = set;
    this.filter();
  }

  get kind() {
    return this.form.elements.show.value;
  }

  get total() {
    return this.kind === "apps" ? this.catalog.appCount : this.catalog.capabilityCount;
  }

  wanted() {
    const { elements } = this.form;
    const number = (name) => (elements[name]?.value ? Number(elements[name].value) : null);
    const reach = elements.reach.value;
    return {
      words: elements.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean),
      agent: number("agent"),
      reaches: reach === "" ? null : reach === "callable" ? [0, 1] : [Number(reach)],
      protocol: elements.protocol.value,
      useCase: number("use_case"),
      findings: elements.findings.value,
    };
  }

  filter() {
    const wanted = this.wanted();
    const { total } = this;
    const fits = this.kind === "apps" ? this.appTest(wanted) : this.capabilityTest(wanted);
    this.rows = [];
    for (let at = 0; at < total; at += 1) if (fits(at)) this.rows.push(at);
    this.page = 0;
    this.sort();
    const noun = this.kind === "apps" ? plural(total, "app") : plural(total, "capability", "capabilities");
    byId("count").textContent = `${count(this.rows.length)} of ${noun}${this.set === null ? "" : `, those in exactly ${this.set.join(" + ") || "no protocol"}`}`;
  }

  findingsTest(column, wanted) {
    if (wanted === "") return () => true;
    if (wanted === "none") return (at) => column[at] === 0;
    const bit = 1 << Number(wanted);
    return (at) => (column[at] & bit) !== 0;
  }

  appTest({ words, agent, reaches, protocol, useCase, findings }) {
    const { catalog, set } = this;
    const { apps } = catalog;
    const hasFindings = this.findingsTest(apps.findings, findings);
    const wantedSet = set === null ? null : [...set].sort().join(" ");
    const hasWord = (at, word) =>
      catalog.appWords[at].includes(word) || catalog.capabilitiesOf[at].some((one) => catalog.ids[one].includes(word));
    return (at) => {
      const best = apps.best[at];
      if (reaches && !(agent === null ? best.some((one) => reaches.includes(one)) : reaches.includes(best[agent]))) return false;
      const protocols = catalog.protocolsOfApp(at);
      if (wantedSet !== null && (apps.is_unread[at] || protocols.join(" ") !== wantedSet)) return false;
      if (protocol === "-" ? protocols.length : protocol && !protocols.includes(protocol)) return false;
      if (useCase !== null && !catalog.sets[apps.use_cases[at]].includes(useCase)) return false;
      return hasFindings(at) && words.every((word) => hasWord(at, word));
    };
  }

  capabilityTest({ words, agent, reaches, protocol, useCase, findings }) {
    const { catalog } = this;
    const hasFindings = this.findingsTest(catalog.capabilities.findings, findings);
    const reachFits = catalog.reach_profiles.map((cells) => {
      if (!reaches) return true;
      return agent === null ? cells.some(([reach]) => reaches.includes(reach)) : reaches.includes(cells[agent][0]);
    });
    const useCaseFits = catalog.sets.map((one) => useCase === null || one.includes(useCase));
    return (at) =>
      reachFits[catalog.capabilities.reach[at]] &&
      useCaseFits[catalog.capabilities.use_cases[at]] &&
      (!protocol || catalog.protocolOf(at) === protocol) &&
      hasFindings(at) &&
      words.every((word) => catalog.words(at).includes(word) || catalog.appWords[catalog.appOf[at]].includes(word));
  }

  /** Return numbers that sort as texts do; made once. */
  rank(name, texts) {
    if (!this.ranks.has(name)) {
      const order = texts.map((_, at) => at).sort((left, right) => (texts[left] < texts[right] ? -1 : texts[left] > texts[right] ? 1 : left - right));
      const ranks = new Int32Array(texts.length);
      order.forEach((at, rank) => {
        ranks[at] = rank;
      });
      this.ranks.set(name, ranks);
    }
    return this.ranks.get(name);
  }

  key(column) {
    const { catalog } = this;
    const { apps, capabilities } = catalog;
    if (this.kind === "apps") {
      if (column === "name") {
        const ranks = this.rank("apps", apps.package.map((_, at) => catalog.nameOfApp(at).toLowerCase()));
        return (at) => ranks[at];
      }
      if (column === "capabilities") return (at) => apps.capabilities[at];
      if (column === "score") return (at) => apps.score[at];
      if (column === "findings") return (at) => apps.finding_count[at];
      if (column === "callable")
        return (at) => catalog.agents.reduce((sum, _, agent) => sum + catalog.callable(at, agent), 0);
      const agent = Number(column);
      return (at) => catalog.callable(at, agent) * 8 + (4 - apps.best[at][agent]);
    }
    if (column === "name") {
      const ranks = this.rank("capabilities", catalog.ids);
      return (at) => ranks[at];
    }
    if (column === "app") return (at) => catalog.appOf[at];
    if (column === "tokens") return (at) => capabilities.tokens[at];
    const agent = Number(column);
    return (at) => catalog.cells(at)[agent][0] * 16 + catalog.cells(at)[agent][1];
  }

  sort() {
    const [column, direction] = this.sorted[this.kind];
    const key = this.key(column);
    const keys = new Map(this.rows.map((at) => [at, key(at)]));
    this.rows.sort((left, right) => direction * (keys.get(left) - keys.get(right)) || left - right);
    this.draw();
  }

  sortBy(column, first) {
    const [now, direction] = this.sorted[this.kind];
    this.sorted[this.kind] = [column, now === column ? -direction : first];
    this.page = 0;
    this.sort();
    byId("matrix").querySelector(`[data-column="${column}"]`)?.focus();
  }

  header(title, column, kind, first) {
    const [now, direction] = this.sorted[this.kind];
    const sort = now === column ? (direction > 0 ? "ascending" : "descending") : null;
    return make(
      "th",
      { scope: "col", class: kind, "aria-sort": sort },
      make("button", { type: "button", class: "sort", "data-column": column, onclick: () => this.sortBy(column, first) }, title),
    );
  }

  draw() {
    const { catalog } = this;
    const isApps = this.kind === "apps";
    const shown = this.rows.slice(this.page * this.size, (this.page + 1) * this.size);
    const agents = catalog.agents.map((title, at) => this.header(title, String(at), "agent", isApps ? -1 : 1));
    const headers = isApps
      ? [this.header("App", "name", "", 1), ...agents, this.header("Capabilities", "capabilities", "number", -1), this.header("Score", "score", "number", 1), this.header("Findings", "findings", "number", -1)]
      : [this.header("Capability", "name", "", 1), this.header("App", "app", "", 1), ...agents, this.header("Tokens", "tokens", "number", -1)];
    const rows = shown.map((at) => make("tr", {}, ...(isApps ? this.appCells(at) : this.capabilityCells(at))));
    const caption = isApps ? "Apps and what each agent can call of them" : "Capabilities and how each agent reaches them";
    byId("matrix").replaceChildren(
      shown.length
        ? make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, make("tr", {}, ...headers)), make("tbody", {}, ...rows))
        : make("p", { class: "empty" }, this.total ? "Nothing fits these filters." : "There is nothing to show."),
    );
    this.drawPager();
  }

  appCells(at) {
    const { catalog } = this;
    const { apps } = catalog;
    const protocols = catalog.protocolsOfApp(at).map((one) => catalog.protocol_titles[one] ?? one).join(" + ");
    const first = make(
      "th",
      { scope: "row" },
      make("button", { type: "button", class: "link", onclick: () => this.sheet.openApp(at) }, catalog.nameInCell(at)),
      catalog.sharesLabel(at) ? make("span", { class: "sub" }, isolated(catalog.text(apps.package[at]))) : "",
      make("span", { class: "sub" }, protocols || (apps.is_unread[at] ? "not read whole, may declare something" : "declares nothing")),
    );
    const agents = catalog.agents.map((_, agent) => {
      const reach = catalog.reaches[apps.best[at][agent]];
      const callable = catalog.callable(at, agent);
      return make("td", { class: "agent" }, callable && callable < apps.capabilities[at] ? count(callable) : "", symbol(reach), hiddenText(` ${REACH_TITLES[reach]}`));
    });
    const score = apps.score[at];
    return [
      first,
      ...agents,
      make("td", { class: "number" }, apps.capabilities[at] ? count(apps.capabilities[at]) : "–"),
      make("td", { class: "number" }, score < 0 ? "–" : String(score)),
      make("td", { class: "number" }, apps.finding_count[at] ? count(apps.finding_count[at]) : "–"),
    ];
  }

  capabilityCells(at) {
    const { catalog } = this;
    const { capabilities } = catalog;
    const agents = catalog.cells(at).map(([reach, level]) => {
      const name = catalog.reaches[reach];
      const loss = name === "gateway" && level > 0 ? make("span", { class: "sub" }, catalog.levels[level]) : "";
      return make("td", { class: "agent" }, loss, symbol(name), hiddenText(` ${REACH_TITLES[name]}`));
    });
    const id = catalog.text(capabilities.id[at]) || "(no name)";
    return [
      make(
        "th",
        { scope: "row" },
        make("button", { type: "button", class: endsTell(id) ? "link tail" : "link", onclick: () => this.sheet.openCapability(at) }, isolated(id)),
        make("span", { class: "sub" }, catalog.text(capabilities.description[at]) || "no description"),
      ),
      make(
        "td",
        { class: "of" },
        make("span", { class: "cut" }, catalog.nameInCell(catalog.appOf[at])),
        make("span", { class: "sub" }, ` ${catalog.protocol_titles[catalog.protocolOf(at)] ?? catalog.protocolOf(at)}`),
      ),
      ...agents,
      make("td", { class: "number" }, capabilities.tokens[at] < 0 ? "–" : count(capabilities.tokens[at])),
    ];
  }

  drawPager() {
    const pager = byId("pager");
    const last = Math.max(0, Math.ceil(this.rows.length / this.size) - 1);
    const go = (title, page) => {
      const button = make("button", { type: "button", onclick: () => this.turn(page, title) }, title);
      button.disabled = page < 0 || page > last || page === this.page;
      return button;
    };
    const from = this.rows.length ? this.page * this.size + 1 : 0;
    const to = Math.min(this.rows.length, (this.page + 1) * this.size);
    const sizes = make(
      "select",
      { "aria-label": "Rows a page", onchange: () => this.resize(Number(sizes.value)) },
      ...PAGE_SIZES.map((size) => make("option", { value: size, selected: size === this.size }, `${size} rows`)),
    );
    pager.replaceChildren(
      go("First", 0),
      go("Previous", this.page - 1),
      go("Next", this.page + 1),
      go("Last", last),
      make("span", {}, `${count(from)} to ${count(to)} of ${count(this.rows.length)}`),
      make("span", { class: "space" }),
      sizes,
    );
    pager.hidden = this.rows.length <= PAGE_SIZES[0];
  }

  turn(page, title) {
    this.page = page;
    this.draw();
    const buttons = [...byId("pager").querySelectorAll("button:not(:disabled)")];
    (buttons.find((one) => one.textContent === title) ?? buttons[0])?.focus();
    byId("matrix").scrollIntoView({ block: "nearest" });
  }

  resize(size) {
    this.size = size;
    this.page = 0;
    this.draw();
    byId("pager").querySelector("select").focus();
  }
}
