/* What the page does beside the matrix: theme, sorting of small tables, heat map, links into the matrix. */
const FOLDED_FROM = 50;
const SHOWN_MORE = 100;

function startTheme() {
  const button = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const remembered = () => {
    try {
      return localStorage.getItem("droidgate-theme");
    } catch {
      return null;
    }
  };
  const remember = (theme) => {
    try {
      localStorage.setItem("droidgate-theme", theme);
    } catch {
      /* A page from a file may have no storage; then the theme lasts as long as the page. */
    }
  };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const tell = () => button.setAttribute("aria-pressed", String(isDark()));
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    tell();
  });
  system.addEventListener("change", tell);
  button.hidden = false;
  tell();
}

function startSorting(element) {
  const body = element.tBodies[0];
  const headers = [...element.tHead.rows[0].cells];
  const valueOf = (row, at) => {
    const text = row.cells[at].textContent.trim();
    return headers[at].classList.contains("number") ? Number(text.replaceAll(",", "")) || 0 : text.toLowerCase();
  };
  headers.forEach((header, at) => {
    if (header.getAttribute("aria-hidden")) return;
    const sort = () => {
      const isNumber = header.classList.contains("number");
      const before = header.getAttribute("aria-sort");
      const descending = before ? before === "ascending" : isNumber;
      headers.forEach((one) => one.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [valueOf(row, at), row]);
      rows.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0) * (descending ? -1 : 1));
      body.append(...rows.map(([, row]) => row));
    };
    header.replaceChildren(make("button", { type: "button", class: "sort", onclick: sort }, header.textContent));
  });
}

/** Make the cells of the heat map buttons: one tab stop, arrows move, and what a cell holds is told below. */
function startHeat(element) {
  const levels = element.dataset.levels.split(" ");
  const cells = [...element.querySelectorAll("td[data-levels]")];
  const countsOf = (cell) => cell.dataset.levels.split(" ").map(Number);
  const tell = (cell) => {
    const counts = countsOf(cell);
    const parts = counts.map((each, at) => (each ? `${count(each)} ${levels[at]}` : null)).filter(Boolean);
    const security = Number(cell.dataset.security || 0);
    if (security) parts.push(`security: ${count(security)} with an access rule that the target does not enforce`);
    byId("heat-told").textContent = `${cell.dataset.from} to ${cell.dataset.to}: ${parts.join(", ")}`;
  };
  const shade = (share) => (share === 0 ? 0 : share === 1 ? 10 : Math.min(9, Math.max(1, Math.round(share * 10))));
  const colour = () => {
    const most = Number(byId("carried").value);
    for (const cell of cells) {
      const counts = countsOf(cell);
      const sum = (all) => all.reduce((total, each) => total + each, 0);
      const share = sum(counts.slice(0, most + 1)) / sum(counts);
      cell.classList.remove(...[...cell.classList].filter((one) => /^h\d+$/.test(one)));
      cell.classList.add(`h${shade(share)}`);
      cell.firstElementChild.textContent = String(Math.floor(share * 100));
    }
  };
  for (const cell of cells) {
    const button = make("button", { type: "button", tabindex: -1, onclick: () => tell(cell), onfocus: () => tell(cell) }, cell.textContent);
    cell.replaceChildren(button);
  }
  const move = (from, across, down) => {
    const rows = [...element.tBodies[0].rows];
    let row = rows.indexOf(from.parentElement);
    let column = from.cellIndex;
    for (;;) {
      row += down;
      column += across;
      const cell = rows[row]?.cells[column];
      if (!cell || cell.tagName === "TH") return;
      const button = cell.querySelector("button");
      if (button) {
        cells.forEach((one) => one.firstElementChild.setAttribute("tabindex", -1));
        button.setAttribute("tabindex", 0);
        button.focus();
        return;
      }
    }
  };
  element.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step || event.target.tagName !== "BUTTON") return;
    event.preventDefault();
    move(event.target.parentElement, ...step);
  });
  cells[0]?.firstElementChild.setAttribute("tabindex", 0);
  byId("heat-told").textContent = "Choose a cell for the counts behind it.";
  byId("carried").addEventListener("change", colour);
  byId("carried-label").hidden = false;
}

/** Let headings of rows elsewhere lead into the matrix. */
function startLinks(explorer, sheet, catalog) {
  const lead = (cell, open) => {
    const button = make("button", { type: "button", class: "link", onclick: open });
    button.append(...cell.childNodes);
    cell.replaceChildren(button);
  };
  const show = (values) => {
    explorer.choose(values);
    byId("explore").scrollIntoView();
    explorer.form.elements.search.focus({ preventScroll: true });
  };
  document.querySelectorAll("[data-set]").forEach((cell) => {
    lead(cell, () => show({ set: cell.dataset.set.split(" ").filter(Boolean) }));
  });
  document.querySelectorAll("[data-use-case]").forEach((cell) => {
    const option = document.querySelector(`option[data-id="${CSS.escape(cell.dataset.useCase)}"]`);
    if (option && !cell.parentElement.classList.contains("gap")) lead(cell, () => show({ use_case: option.value }));
  });
  if (catalog.unplaced_count && catalog.unplaced_pack >= 0) {
    const told = `${plural(catalog.unplaced_count, "finding")} on no single app`;
    byId("unplaced").append(make("button", { type: "button", class: "link", onclick: () => sheet.openUnplaced() }, told));
    byId("unplaced").hidden = false;
  }
  const keys = new Map(catalog.apps.key.map((text, at) => [catalog.text(text), at]));
  document.querySelectorAll("[data-app]").forEach((cell) => {
    const app = keys.get(cell.dataset.app);
    if (app !== undefined) lead(cell, () => sheet.openApp(app));
  });
}

/** Show a long list a part at a time; paper has all of it. */
function startFolding(list) {
  const later = [...list.children].slice(FOLDED_FROM);
  if (!later.length) return;
  const button = make("button", { type: "button", class: "plain" });
  const tell = () => {
    button.textContent = `Show ${count(Math.min(later.length, SHOWN_MORE))} more of ${count(list.children.length)}`;
    button.hidden = !later.length;
  };
  later.forEach((one) => one.classList.add("later"));
  button.addEventListener("click", () => {
    const next = later.splice(0, SHOWN_MORE);
    next.forEach((one) => one.classList.remove("later"));
    tell();
    const first = next[0].querySelector("summary") ?? next[0];
    if (first === next[0]) first.tabIndex = -1;
    first.focus();
  });
  list.after(button);
  tell();
}

/** Mark the part of the page that is read. */
function startNavigation() {
  const list = document.querySelector("body > nav ul");
  const links = new Map([...document.querySelectorAll("body > nav a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        links.forEach((link) => link.removeAttribute("aria-current"));
        const link = links.get(entry.target.id);
        link?.setAttribute("aria-current", "location");
        if (link) list.scrollTo({ left: link.offsetLeft - list.clientWidth / 3 });
      }
    },
    { rootMargin: "-20% 0px -75% 0px" },
  );
  links.forEach((_, id) => watcher.observe(byId(id)));
}

/** Print what is folded. */
function startPrinting() {
  const opened = [];
  addEventListener("beforeprint", () => {
    const folded = [...document.querySelectorAll("main details:not([open])")];
    folded.forEach((one) => one.setAttribute("open", ""));
    opened.push(...folded);
  });
  addEventListener("afterprint", () => opened.splice(0).forEach((one) => one.removeAttribute("open")));
}

startTheme();
document.querySelectorAll("table.sortable").forEach(startSorting);
if (byId("heat")) startHeat(byId("heat"));
if (byId("changes")) startFolding(byId("changes"));
startNavigation();
startPrinting();
if (byId("columns")) {
  const catalog = new Catalog(JSON.parse(byId("columns").textContent));
  const sheet = new Sheet(catalog, byId("sheet"));
  startLinks(new Explorer(catalog, sheet), sheet, catalog);
}
