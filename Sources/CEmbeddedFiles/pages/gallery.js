// A folder of ingested files as cards. Cards are made as they come into view, so that thousands of files cost nothing.

const batch = 120;
const states = ["fail", "error", "warn", "pass", "none"];
const names = {fail: "fail", error: "error", warn: "warn", pass: "pass", none: "not checked"};
const entries = data.entries.map(entry => ({...entry, state: entry.error ? "error" : entry.verdict || "none",
  sought: `${entry.name}\n${entry.folder}`.toLowerCase()}));
const collator = new Intl.Collator("en", {numeric: true, sensitivity: "base"});
entries.forEach(entry => { entry.length = entry.duration ?? -1; });
const orders = {
  name: (one, other) => collator.compare(one.name, other.name),
  verdict: (one, other) => states.indexOf(one.state) - states.indexOf(other.state),
  warnings: (one, other) => other.warnings - one.warnings,
  longest: (one, other) => other.length - one.length,
  shortest: (one, other) => (one.length < 0) - (other.length < 0) || one.length - other.length
};
// Sorted once; the other orders keep that of names among equals.
entries.sort(orders.name);

const choice = {words: "", state: "", sort: "name"};
let shown = [];
let made = 0;

function card(entry) {
  const poster = relative(entry.poster);
  const page = relative(entry.page) || relative(entry.folder);
  const image = poster ? element("img", {src: poster, alt: "", loading: "lazy", decoding: "async"}) : null;
  if (image) image.addEventListener("error", () => image.remove(), {once: true});
  const name = element(page ? "a" : "span", {class: "foreign", href: page, text: entry.name});
  return element("li", {}, element("article", {class: "card"},
    element("div", {class: "poster"}, element("span", {text: poster ? "" : "no picture"}), image,
      entry.duration === undefined ? null : element("span", {class: "length mono", text: clockText(entry.duration)})),
    element("div", {class: "about"}, element("h2", {}, name),
      element("p", {class: "marks"}, badge(entry.state === "none" ? null : entry.state),
        entry.warnings ? element("span", {class: "quiet", text: plural(entry.warnings, "warning")}) : null),
      entry.error ? element("p", {class: "error foreign", text: entry.error}) : null)));
}

function addCards() {
  const next = shown.slice(made, made + batch);
  byID("cards").append(...next.map(card));
  made += next.length;
  byID("more").hidden = made >= shown.length;
}

function show() {
  const words = choice.words.toLowerCase().split(/\s+/).filter(Boolean);
  shown = entries.filter(entry => (!choice.state || entry.state === choice.state) && words.every(word => entry.sought.includes(word)));
  if (choice.sort !== "name") shown.sort(orders[choice.sort]);
  byID("cards").replaceChildren();
  made = 0;
  addCards();
  const length = shown.reduce((sum, entry) => sum + (entry.duration || 0), 0);
  const part = shown.length === entries.length ? "" : `${shown.length.toLocaleString("en")} of `;
  byID("count").textContent = `${part}${plural(entries.length, "file")}, ${lengthText(length)}`;
  byID("none").hidden = shown.length > 0;
  for (const button of byID("verdicts").children) button.setAttribute("aria-pressed", String(button.value === choice.state));
}

function lengthText(seconds) {
  const minutes = Math.round(seconds / 60);
  return seconds < 3600 ? clockText(seconds) : `${Math.floor(minutes / 60).toLocaleString("en")} h ${minutes % 60} min`;
}

/** Keeps the choice in the address, so that the way back from a film leads to the same list. */
function keep() {
  const words = new URLSearchParams(Object.entries(choice).filter(([key, value]) => value && !(key === "sort" && value === "name")));
  try { history.replaceState(null, "", `#${words}`); } catch { /* Some browsers forbid it to files. */ }
}

function choose(changes) {
  Object.assign(choice, changes);
  keep();
  show();
}

document.title = data.title;
byID("title").textContent = data.title;
const counts = new Map(states.map(state => [state, entries.filter(entry => entry.state === state).length]));
byID("verdicts").append(...[["", entries.length], ...counts].filter(([state, count]) => !state || count).map(([state, count]) => {
  const button = element("button", {type: "button", value: state, text: state ? names[state] : "all"},
    element("span", {class: "figure", text: ` ${count.toLocaleString("en")}`}));
  button.addEventListener("click", () => choose({state}));
  return button;
}));

const kept = new URLSearchParams(location.hash.slice(1));
choice.words = kept.get("words") || "";
choice.state = counts.get(kept.get("state")) ? kept.get("state") : "";
choice.sort = Object.hasOwn(orders, kept.get("sort")) ? kept.get("sort") : "name";
byID("search").value = choice.words;
byID("sort").value = choice.sort;

byID("search").addEventListener("input", event => choose({words: event.target.value}));
byID("sort").addEventListener("change", event => choose({sort: event.target.value}));
byID("choice").addEventListener("submit", event => event.preventDefault());
byID("more").addEventListener("click", () => {
  const place = made;
  addCards();
  byID("cards").children[place]?.querySelector("a")?.focus();
});
// The button is near when its cards will soon be.
const nearing = new IntersectionObserver(found => { if (found.some(one => one.isIntersecting)) addCards(); }, {rootMargin: "800px"});
nearing.observe(byID("more"));
document.addEventListener("keydown", event => {
  if (event.key === "/" && !event.target.matches("input, select")) { event.preventDefault(); byID("search").focus(); }
});
show();
