/* The details of the report: columns that are read at once, and packs that are inflated when asked for. */
const REACH_TITLES = { native: "native", gateway: "through the gateway", "ui-only": "screens only", none: "not at all" };

/** Return the folder that all files are in, with its slash, or "". */
function commonFolder(paths) {
  const parent = (path) => path.slice(0, path.slice(0, -1).lastIndexOf("/") + 1);
  let folder = parent(paths[0] ?? "");
  while (!paths.every((path) => path.startsWith(folder))) folder = parent(folder);
  return folder;
}

class Catalog {
  constructor(columns) {
    Object.assign(this, columns);
    const { apps, providers, capabilities } = this;
    this.appCount = apps.package.length;
    this.capabilityCount = capabilities.id.length;
    this.appOf = Int32Array.from(capabilities.provider, (provider) => providers.app[provider]);
    this.capabilitiesOf = Array.from({ length: this.appCount }, () => []);
    this.appOf.forEach((app, at) => this.capabilitiesOf[app].push(at));
    this.appWords = apps.package.map((text, at) =>
      `${this.text(apps.label[at])} ${this.text(text)}`.toLowerCase(),
    );
    const paths = apps.package.filter((_, at) => apps.label[at] < 0).map((text) => this.text(text));
    this.folder = commonFolder(paths.filter((text) => text.includes("/")));
    this.labelCounts = new Map();
    for (const label of apps.label) this.labelCounts.set(label, (this.labelCounts.get(label) ?? 0) + 1);
    this.ids = capabilities.id.map((text) => this.text(text).toLowerCase());
    this.packs = null;
    this.inflated = new Map();
  }

  text(at) {
    return at < 0 ? "" : this.texts[at];
  }

  nameOfApp(app) {
    return this.text(this.apps.label[app]) || this.text(this.apps.package[app]);
  }

  /** Return the name of an app as a cell has it: the file of a lone descriptor is cut in the middle. */
  nameInCell(app) {
    const name = this.nameOfApp(app);
    return this.apps.label[app] < 0 && name.includes("/") ? pathName(name, name.startsWith(this.folder) ? this.folder.length : 0) : isolated(name);
  }

  /** Return whether another app has the label of an app, whose package has to tell them apart then. */
  sharesLabel(app) {
    return this.apps.label[app] >= 0 && this.labelCounts.get(this.apps.label[app]) > 1;
  }

  protocolsOfApp(app) {
    return this.sets[this.apps.protocols[app]].map((one) => this.texts[one]);
  }

  protocolOf(capability) {
    return this.text(this.providers.protocol[this.capabilities.provider[capability]]);
  }

  dialectOf(provider) {
    const dialect = this.text(this.providers.dialect[provider]);
    return this.text(this.providers.protocol[provider]) + (dialect && `+${dialect}`);
  }

  cells(capability) {
    return this.reach_profiles[this.capabilities.reach[capability]];
  }

  callable(app, agent) {
    const counts = this.apps.reach[app][agent];
    return counts[0] + counts[1];
  }

  words(capability) {
    return `${this.ids[capability]} ${this.text(this.capabilities.description[capability]).toLowerCase()}`;
  }

  async pack(at) {
    if (!this.inflated.has(at)) this.inflated.set(at, this.inflate(at));
    return this.inflated.get(at);
  }

  async inflate(at) {
    this.packs ??= JSON.parse(byId("packs").textContent);
    const bytes = Uint8Array.from(atob(this.packs[at]), (one) => one.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  async unplaced() {
    return (await this.pack(this.unplaced_pack)).unplaced;
  }

  async details(app) {
    return (await this.pack(this.apps.pack[app]))[app];
  }
}
