/* One app or one capability in full, beside the page. */
const FINDING_TITLES = { reading: "lenient read", security: "security" };

class Sheet {
  constructor(catalog, element) {
    this.catalog = catalog;
    this.element = element;
    this.trail = [];
    element.addEventListener("click", (event) => {
      if (event.target === element) element.close();
    });
    element.addEventListener("close", () => {
      this.trail = [];
      element.replaceChildren();
    });
  }

  openApp(app) {
    const read = () => this.catalog.details(app);
    return this.go({ kind: "App", name: this.catalog.nameOfApp(app), read, fill: (details) => this.app(app, details) });
  }

  openCapability(at) {
    const app = this.catalog.appOf[at];
    const name = this.catalog.text(this.catalog.capabilities.id[at]);
    const read = () => this.catalog.details(app);
    return this.go({ kind: "Capability", name, read, fill: (details) => this.capability(at, app, details) });
  }

  openUnplaced() {
    const read = () => this.catalog.unplaced();
    return this.go({ kind: "Findings", name: "Findings on no single app", read, fill: (findings) => [this.findings(findings)] });
  }

  go(place) {
    this.trail.push(place);
    return this.show();
  }

  back() {
    this.trail.pop();
    return this.show();
  }

  async show() {
    const place = this.trail.at(-1);
    const title = make("h2", { id: "sheet-title", tabindex: -1 }, breakable(place.name));
    const body = make("div", {}, make("p", { class: "busy", role: "status" }, "Reading"));
    const before = this.trail.at(-2);
    this.element.replaceChildren(
      make(
        "header",
        {},
        before
          ? make("button", { type: "button", class: "plain", onclick: () => this.back() }, "Back")
          : null,
        make("span", { class: "space sub" }, place.kind),
        make("button", { type: "button", class: "plain", onclick: () => this.element.close() }, "Close"),
      ),
      make("div", { class: "content" }, title, body),
    );
    if (!this.element.open) this.element.showModal();
    this.element.scrollTop = 0;
    title.focus();
    let parts;
    try {
      parts = place.fill(await place.read());
    } catch (error) {
      parts = [make("p", { class: "empty" }, `The details cannot be read: ${error.message}`)];
    }
    if (this.trail.at(-1) === place) body.replaceChildren(...parts.filter(Boolean));
  }

  link(text, open) {
    return make("button", { type: "button", class: "link", onclick: open }, breakable(text));
  }

  heading(text) {
    return make("h3", {}, text);
  }

  app(app, details) {
    const { catalog } = this;
    const { quality } = details;
    const own = details.findings.filter(([capability]) => capability === null);
    return [
      details.label && details.label !== catalog.nameOfApp(app) ? make("p", {}, isolated(details.label)) : null,
      details.description ? make("p", {}, isolated(details.description)) : null,
      factsList([
        ["Package", details.package],
        ["Version", [details.version_name, details.version_code === null ? null : `(${details.version_code})`].filter(Boolean).join(" ")],
        ["Android", details.minimum_sdk ? `API ${details.minimum_sdk} and later${details.target_sdk ? `, made for ${details.target_sdk}` : ""}` : null],
        ["Protocols", catalog.protocolsOfApp(app).map((one) => catalog.protocol_titles[one] ?? one).join(", ") || "none"],
        ["Launcher screen", catalog.apps.has_launcher[app] ? "yes" : "no"],
        ["Read", catalog.apps.is_unread[app] ? "not whole: it may declare something, and its reach is not known" : null],
        ["Answers", catalog.apps.is_silent[app] ? "it tells (some of) its capabilities only when a phone asks" : null],
        ["Signed by", details.signers.join("\n")],
        ["Found in", details.sources.join("\n")],
        ["Use cases", catalog.sets[catalog.apps.use_cases[app]].map((one) => catalog.use_cases[one]).join(", ")],
      ]),
      this.heading("Who can reach it"),
      this.appReach(app),
      details.word ? make("pre", { class: "command" }, `droidgate inspect ${details.word}`) : null,
      this.heading(plural(catalog.apps.capabilities[app], "capability", "capabilities")),
      this.capabilityList(app),
      this.heading("How well it is described"),
      factsList([
        ["Score", quality.score === null ? null : `${quality.score} of 100`],
        ["No description", `${plural(quality.undescribed_capabilities, "capability", "capabilities")}, ${plural(quality.undescribed_parameters, "parameter")} of ${count(quality.parameters)}`],
        ["No type", plural(quality.untyped_parameters, "parameter")],
        ["Poor names", count(quality.poor_names)],
        ["Tokens", `${count(quality.tokens)} (estimate)`],
      ]),
      own.length ? this.heading("Findings on the app and its components") : null,
      own.length ? this.findings(own) : null,
    ];
  }

  appReach(app) {
    const { catalog } = this;
    return table(
      "Reach by agent",
      [["Agent", ""], ["", "bars"], ["Best", ""], ["Callable", "number"]],
      catalog.agents.map((title, agent) => [
        title,
        reachBar(catalog.reaches, catalog.apps.reach[app][agent]),
        this.reachText(catalog.reaches[catalog.apps.best[app][agent]]),
        count(catalog.callable(app, agent)),
      ]),
    );
  }

  reachText(reach) {
    return make("span", {}, symbol(reach), " ", REACH_TITLES[reach]);
  }

  capabilityList(app) {
    const { catalog } = this;
    const all = catalog.capabilitiesOf[app];
    const list = make("div", {});
    const showMore = (shown) => {
      const next = all.slice(0, shown);
      list.replaceChildren(
        table(
          "Capabilities",
          [["Name", ""], ["Protocol", ""], ["What it does", "small"]],
          next.map((at) => [
            this.link(catalog.text(catalog.capabilities.id[at]), () => this.openCapability(at)),
            catalog.dialectOf(catalog.capabilities.provider[at]),
            catalog.text(catalog.capabilities.description[at]) || "–",
          ]),
        ),
        next.length < all.length
          ? make("button", { type: "button", class: "plain", onclick: () => showMore(shown + 200) }, `Show more of ${count(all.length)}`)
          : "",
      );
    };
    if (all.length) showMore(50);
    else list.append(make("p", { class: "empty" }, "It declares none that could be read."));
    return list;
  }

  capability(at, app, details) {
    const { catalog } = this;
    const one = details.capabilities[at];
    const position = catalog.capabilities.provider[at];
    const provider = details.providers[position];
    const own = details.findings.filter(([capability]) => capability === at);
    return [
      one.id ? make("p", {}, make("code", {}, one.id)) : null,
      one.title ? make("p", {}, make("b", {}, isolated(one.title))) : null,
      make("p", {}, isolated(one.description ?? (catalog.text(catalog.capabilities.description[at]) || "It has no description."))),
      factsList([
        ["App", this.link(catalog.nameOfApp(app), () => this.openApp(app))],
        ["Protocol", catalog.dialectOf(position)],
        ["Component", [provider.component, provider.component_kind].filter(Boolean).join(", ")],
        ["Exported", provider.exported === null ? null : provider.exported ? "yes" : "no"],
        ["Enabled", provider.enabled === false ? "no" : provider.enabled_in && `in configurations: ${provider.enabled_in}`],
        ["Permission", provider.permission && `${provider.permission} (${provider.protection})`],
        ["Takes", one.parameters || "nothing"],
        ["Returns", one.output],
        ["Undescribed", one.undescribed ? plural(one.undescribed, "parameter") : null],
        ["Untyped", one.untyped ? plural(one.untyped, "parameter") : null],
        ["Says it only reads", one.read_only === undefined ? null : one.read_only ? "yes" : "no"],
        ["Says it may destroy", one.destructive === undefined ? null : one.destructive ? "yes" : "no"],
        ["Enabled now", one.enabled === undefined ? null : one.enabled ? "yes" : "no"],
        ["Tokens", catalog.capabilities.tokens[at] < 0 ? null : `${count(catalog.capabilities.tokens[at])} (estimate)`],
        ["Use cases", catalog.sets[catalog.capabilities.use_cases[at]].map((each) => catalog.use_cases[each]).join(", ")],
      ]),
      this.heading("Who can reach it"),
      this.capabilityReach(at),
      this.heading("Source descriptor"),
      this.descriptor(one, provider),
      this.heading(own.length ? "Findings" : "No findings"),
      own.length ? this.findings(own) : null,
      this.heading("Translations"),
      ...this.translations(at, position, details),
      ...this.alike(at, one),
    ];
  }

  capabilityReach(at) {
    const { catalog } = this;
    const needs = catalog.cells(at).flatMap((cell) => cell[3].map((each) => catalog.text(each)));
    const letters = Object.entries(catalog.conditions).filter(([letter]) =>
      needs.some((each) => each.split(/\W+/).includes(letter)),
    );
    const reach = table(
      "Reach by agent",
      [["Agent", ""], ["How, why, and what it needs", ""], ["Loss", ""]],
      catalog.cells(at).map(([reach, level, reason, needs, gate], agent) => [
        catalog.agents[agent],
        make(
          "div",
          {},
          this.reachText(catalog.reaches[reach]),
          make("span", { class: "sub why" }, [reason, ...needs].map((each) => sentence(catalog.text(each))).join(" ")),
          gate ? this.gate(catalog.gates[gate]) : null,
        ),
        level < 0 ? "–" : catalog.levels[level],
      ]),
    );
    return make("div", {}, reach, ...letters.map(([letter, meaning]) => make("p", { class: "sub" }, make("b", {}, letter), ` ${meaning}`)));
  }

  /** Return what opens the gate that is shut, and who can. */
  gate([title, owner, fix]) {
    return make("details", { class: "gate" }, make("summary", {}, "What opens it"), make("span", { class: "sub why" }, `${sentence(`Needed: ${title}`)} By the ${owner}: ${sentence(fix)}`));
  }

  descriptor(one, provider) {
    const parts = [
      one.place ?? provider.place ? make("p", { class: "sub" }, `From ${one.place ?? provider.place}, in the capability model; what is default is left out.`) : null,
      one.declaration ? make("pre", { tabindex: 0 }, indented(one.declaration)) : make("p", { class: "empty" }, "Declarations are not in this report."),
    ];
    const facts = [
      ["Name", provider.name],
      ["Description", provider.description],
      ["Instructions", provider.instructions],
      ["Declared in", provider.place],
    ];
    const more = make("details", {}, make("summary", {}, "Its component"), factsList(facts));
    for (const [title, json] of [["Named types", provider.definitions], ["Facts of single formats", provider.extensions]])
      if (json) more.append(make("h4", {}, title), make("pre", { tabindex: 0 }, indented(json)));
    return make("div", {}, ...parts.filter(Boolean), more);
  }

  findings(rows) {
    return table(
      "Findings",
      [["Code", ""], ["Level", ""], ["Finding", "small"]],
      rows.map(([, origin, level, code, message, hint, rule, pointer, place]) => [
        make("code", {}, code),
        make("span", { class: `level-${level}` }, FINDING_TITLES[origin] ?? level),
        make(
          "span",
          {},
          message,
          hint ? `. ${hint}` : "",
          make("span", { class: "sub" }, ` ${[place, pointer, rule].filter(Boolean).join(" · ")}`),
        ),
      ]),
    );
  }

  translations(at, position, details) {
    const { catalog } = this;
    const levels = catalog.level_profiles[catalog.capabilities.levels[at]];
    const made = details.translations.filter((one) => one.provider === position);
    const shown = made.map((one) => {
      const part = make("details", {}, make("summary", {}, make("code", {}, one.target)));
      if (one.problem) part.append(make("p", {}, one.problem));
      for (const [path, text] of one.files) part.append(make("h4", {}, path), make("pre", { tabindex: 0 }, text));
      if (one.findings.length)
        part.append(
          table(
            `What ${one.target} costs`,
            [["Code", ""], ["Level", ""], ["Finding", "small"]],
            one.findings.map(([code, level, pointer, message]) => [make("code", {}, code), level, `${message} · ${pointer}`]),
          ),
        );
      return part;
    });
    const losses = table(
      "Losses by target",
      [["Target", ""], ["At worst", ""]],
      catalog.targets.map((target, each) => [
        make("code", {}, target),
        levels[each] < 0 ? "–" : catalog.levels[levels[each]],
      ]),
    );
    const source = details.word;
    const commands = source && catalog.targets.length ? this.commands(source, catalog.targets) : [];
    return [...shown, ...commands, losses];
  }

  commands(source, targets) {
    const command = make("pre", { class: "command", tabindex: 0 });
    const tell = (target) => command.replaceChildren(`droidgate convert ${source} --to ${target} -o out`);
    const choice = make(
      "select",
      { onchange: () => tell(choice.value) },
      ...targets.map((target) => make("option", { value: target }, target)),
    );
    tell(targets[0]);
    return [make("p", {}, make("label", { class: "inline" }, "The command that writes all that the app declares in ", choice, ", into the folder out")), command];
  }

  alike(at, one) {
    const { catalog } = this;
    const group = catalog.capabilities.group[at];
    if (group < 0) return [];
    const links = new Map((one.links ?? []).map((each) => [each[0], each]));
    const others = catalog.groups[group].filter((each) => each !== at);
    others.sort((left, right) => (links.get(right)?.[2] ?? 0) - (links.get(left)?.[2] ?? 0) || left - right);
    const most = 40;
    return [
      this.heading("The same elsewhere"),
      others.length > most ? make("p", { class: "sub" }, `${most} of ${count(others.length)}`) : null,
      table(
        "Capabilities that do the same job",
        [["Capability", ""], ["App", ""], ["How", "small"], ["Score", "number"]],
        others.slice(0, most).map((each) => {
          const [, kind, score, terms, parameters] = links.get(each) ?? [];
          const both = [...(terms ?? []), ...(parameters ?? [])].join(", ");
          return [
            this.link(catalog.text(catalog.capabilities.id[each]), () => this.openCapability(each)),
            isolated(catalog.nameOfApp(catalog.appOf[each])),
            kind ? [kind, both].filter(Boolean).join(": ") : "by others of the group",
            score === undefined ? "–" : score.toFixed(2),
          ];
        }),
      ),
    ];
  }
}
