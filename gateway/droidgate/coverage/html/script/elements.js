/* Elements, made one way: texts are set as texts, never as markup. */
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const count = (value) => value.toLocaleString("en-US");
const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** Return an element; attributes by name, `on...` are listeners; children are elements or texts. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((one) => one !== null && one !== undefined));
  return element;
}

const sentence = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}.`;

const hiddenText = (text) => make("span", { class: "hidden" }, text);
const isolated = (text, attributes = {}) => make("bdi", attributes, text);

/** Tell whether a text that is too long loses its start, as it may have already: of paths the end tells. */
const endsTell = (text) => /^…|[/#]/.test(text);

/**
 * Return the path of a file that is cut in the middle: its start and the end of the file's name tell. All of it is seen
 * on hover; `from` is where it begins to differ from others. A short folder is not apart: it would leave the name no room.
 */
function pathName(text, from) {
  const file = text.lastIndexOf("/") + 1;
  const start = Math.max(file - from > 6 ? file : from, text.length - 24);
  const folder = start > from ? make("span", {}, text.slice(from, start)) : null;
  return make("bdi", { class: "path", title: text }, folder, make("span", { class: "tail" }, isolated(text.slice(start))));
}

/** Return a name that may break after what joins its parts. */
function breakable(text) {
  const parts = text.split(/(?<=[./#_])/);
  return make("bdi", {}, ...parts.flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
}

function symbol(reach) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `symbol r-${reach}`);
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#s-${reach}`);
  svg.append(use);
  return svg;
}

/** Return a bar of shares by reach. */
function reachBar(reaches, counts) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "bar");
  svg.setAttribute("viewBox", "0 0 100 10");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const whole = counts.reduce((sum, one) => sum + one, 0);
  let start = 0;
  counts.forEach((part, at) => {
    const rect = document.createElementNS(SVG, "rect");
    const length = whole ? (100 * part) / whole : 0;
    for (const [key, value] of Object.entries({ class: `r-${reaches[at]}`, x: start, width: length, height: 10 }))
      rect.setAttribute(key, value);
    start += length;
    svg.append(rect);
  });
  return svg;
}

/** Return a table: columns as [title, class], rows as cells (elements or texts), the first cell a heading. */
function table(caption, columns, rows) {
  const head = columns.map(([title, kind]) => make("th", { scope: "col", class: kind }, title));
  const body = rows.map((cells) =>
    make(
      "tr",
      {},
      ...cells.map((cell, at) => make(at ? "td" : "th", { scope: at ? null : "row", class: columns[at][1] }, cell)),
    ),
  );
  return make(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
    make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)),
  );
}

/** Return names and values; those without a value are left out. */
function factsList(pairs) {
  const kept = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return make("dl", { class: "facts-list" }, ...kept.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** Return a JSON text with a member a line; no value is read, so every digit and escape stays as it is. */
function indented(json) {
  let text = "";
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const one = json[at];
    const next = json[at + 1];
    if (one === '"') {
      const start = at;
      at += 1;
      while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
      text += json.slice(start, at + 1);
    } else if ((one === "{" && next === "}") || (one === "[" && next === "]")) {
      text += one + next;
      at += 1;
    } else if (one === "{" || one === "[") {
      depth += 1;
      text += `${one}\n${"  ".repeat(depth)}`;
    } else if (one === "}" || one === "]") {
      depth -= 1;
      text += `\n${"  ".repeat(depth)}${one}`;
    } else if (one === ",") text += `,\n${"  ".repeat(depth)}`;
    else if (one === ":") text += ": ";
    else text += one;
  }
  return text;
}
