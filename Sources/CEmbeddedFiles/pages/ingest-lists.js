// What stands beside the time line: findings, chapters and scene changes to jump to, and what is known of the file.

/** A list that is made in pieces, because thousands of rows at once would hold up the page. */
function pieces(items, row, size = 200) {
  const list = element("ol", {class: "rows"});
  const more = element("button", {type: "button", class: "more"});
  let count = 0;
  const add = () => {
    const first = count;
    count = Math.min(count + size, items.length);
    list.append(...items.slice(first, count).map(item => element("li", {}, row(item))));
    more.textContent = `Show more (${(items.length - count).toLocaleString("en")} not shown)`;
    more.hidden = count === items.length;
    return list.children[first];
  };
  add();
  more.addEventListener("click", () => add()?.querySelector("button")?.focus());
  return element("div", {}, list, more);
}

function leftOutText(count, what) {
  return count ? element("p", {class: "quiet note", text: `${plural(count, `more ${what}`)} not on this page.`}) : null;
}

/** Start and end of what the rows stand for. */
const spans = new WeakMap();

/** A row that jumps to a time. */
function jump(seconds, end, ...children) {
  const button = element("button", {type: "button", class: "jump"}, ...children);
  spans.set(button, [snapped(seconds), Math.max(end ?? 0, snapped(seconds) + looseStep)]);
  button.addEventListener("click", event => {
    player.seek(seconds);
    timeline.follow();
    // After a click the keys are those of the player again; who tabs through the list stays in it.
    if (event.detail > 0) timeline.scroller.focus({preventScroll: true});
  });
  return button;
}

/** Marks the rows in view that the position is in. */
function showCurrentRows(position) {
  for (const button of document.querySelectorAll("[role=tabpanel]:not([hidden]) button.jump")) {
    const [start, end] = spans.get(button);
    if (start <= position && position < end) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

function timeCell(seconds) { return element("span", {class: "mono time", text: timeText(seconds)}); }

function findingRow(finding) {
  const length = finding.end === undefined || finding.start === undefined ? null
    : element("span", {class: "length", text: ` · ${lengthText(finding.end - finding.start)}`});
  const track = finding.track === undefined ? "" : `track ${finding.track}`;
  const parts = [
    element("span", {class: "first"}, badge(finding.severity), element("span", {class: "rule foreign", text: finding.rule}),
      element("span", {class: "quiet", text: track}), finding.start === undefined ? null : timeCell(finding.start)),
    element("span", {class: "message"}, element("span", {class: "foreign", text: finding.message}), length)
  ];
  return finding.start === undefined ? element("div", {class: "jump still"}, ...parts) : jump(finding.start, finding.end, ...parts);
}

function lengthText(seconds) {
  return seconds < 60 ? `${Number(seconds.toFixed(seconds < 1 ? 3 : 2))} s` : clockText(seconds, 1);
}

/** The findings of one rule or of all. */
function findingsPanel() {
  const counts = new Map();
  for (const finding of data.findings) counts.set(finding.rule, (counts.get(finding.rule) || 0) + 1);
  const choice = element("select", {id: "rule", "aria-label": "Rule"},
    element("option", {value: "", text: `All rules (${data.findings.length.toLocaleString("en")})`}),
    ...[...counts].map(([rule, count], place) => element("option", {value: place + 1, text: `${rule} (${count})`})));
  const box = element("div");
  const show = () => {
    const rule = [...counts.keys()][Number(choice.value) - 1];
    box.replaceChildren(pieces(data.findings.filter(finding => rule === undefined || finding.rule === rule), findingRow));
  };
  choice.addEventListener("change", show);
  show();
  return element("div", {}, counts.size > 1 ? element("p", {class: "tools"}, choice) : null, box,
    leftOutText(data.moreFindings, "finding"));
}

function chapterRow(chapter) {
  const title = element("span", {class: "rule foreign", text: chapter.title || "Untitled"});
  return jump(chapter.start, chapter.end, element("span", {class: "first"}, title, timeCell(chapter.start)));
}

function sceneRow(seconds) {
  const picture = element("span", {class: "tile", "aria-hidden": "true"});
  const size = sprites.show(picture, seconds);
  return jump(seconds, null, element("span", {class: "first"}, size ? picture : null, timeCell(seconds)));
}

/** Rows of names and values. */
function rowsOf(section) {
  return element("section", {}, element("h3", {class: "foreign", text: section.title}),
    element("dl", {}, ...section.rows.flatMap(([key, value]) => [
      element("dt", {class: "foreign", text: key}), element("dd", {class: "foreign", text: value})])));
}

function loudnessTable() {
  const columns = [["integrated", "Integrated", "LUFS"], ["range", "Range", "LU"], ["momentary", "Momentary", "LUFS"],
    ["shortTerm", "Short-term", "LUFS"], ["truePeak", "True peak", "dBTP"]];
  const text = value => value === undefined ? "–" : value === null ? "−∞" : value.toFixed(1).replace("-", "−");
  return element("section", {}, element("h3", {text: "Loudness"}), ...data.loudness.map(row =>
    element("div", {class: "loudness"}, element("h4", {class: "foreign", text: row.track}),
      element("dl", {class: "figures"}, ...columns.map(([key, name, unit]) => element("div", {},
        element("dt", {text: name}), element("dd", {class: "mono", text: text(row[key])}, element("small", {text: ` ${unit}`}))))))));
}

function filePanel() {
  const sentences = (title, lines) => lines.length === 0 ? null : element("section", {}, element("h3", {text: title}),
    element("ul", {class: "sentences"}, ...lines));
  return element("div", {class: "file"},
    sentences("Warnings", data.warnings.map(text => element("li", {class: "foreign", text}))),
    leftOutText(data.moreWarnings, "warning"),
    sentences("Not made", data.leftOut.map(output => element("li", {}, element("strong", {class: "foreign", text: output.name}),
      element("span", {class: "foreign", text: `: ${output.reason}`})))),
    data.loudness.length ? loudnessTable() : null,
    ...data.metadata.map(rowsOf), leftOutText(data.moreMetadata, "value"));
}

/** The panels, one of which is shown; the arrows go from tab to tab, as screen readers have it. */
class Panels {
  constructor() {
    this.tabs = [];
    this.list = byID("tabs");
    this.box = byID("panels");
    if (data.verdict || data.findings.length) {
      this.add("Findings", data.findings.length + data.moreFindings,
        () => data.findings.length ? findingsPanel() : element("p", {class: "quiet note", text: "Nothing was found."}));
    }
    if (data.chapters.length) {
      this.add("Chapters", data.chapters.length + data.moreChapters,
        () => element("div", {}, pieces(data.chapters, chapterRow), leftOutText(data.moreChapters, "chapter")));
    }
    if (data.scenes.length) {
      this.add("Scenes", data.scenes.length + data.moreScenes,
        () => element("div", {}, pieces(data.scenes, sceneRow), leftOutText(data.moreScenes, "scene change")));
    }
    this.add("File", null, filePanel);
    this.list.addEventListener("keydown", event => this.key(event));
    this.show(this.tabs[0]);
  }

  add(name, count, make) {
    const id = `panel${this.tabs.length}`;
    const tab = element("button", {type: "button", role: "tab", id: `${id}tab`, "aria-controls": id, text: name},
      count === null ? null : element("span", {class: "count", text: ` ${count.toLocaleString("en")}`}));
    const panel = element("div", {role: "tabpanel", id, "aria-labelledby": tab.id, tabindex: "0"});
    this.tabs.push({tab, panel, make});
    this.list.append(tab);
    this.box.append(panel);
    tab.addEventListener("click", () => this.show(this.tabs.find(other => other.tab === tab)));
  }

  show(shown) {
    for (const {tab, panel} of this.tabs) {
      tab.setAttribute("aria-selected", String(tab === shown.tab));
      tab.tabIndex = tab === shown.tab ? 0 : -1;
      panel.hidden = panel !== shown.panel;
    }
    // A panel is filled when it is first looked at.
    if (shown.make) shown.panel.append(shown.make());
    shown.make = null;
    showCurrentRows(player.position);
  }

  key(event) {
    const place = this.tabs.findIndex(({tab}) => tab === document.activeElement);
    const move = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const next = event.key === "Home" ? 0 : event.key === "End" ? this.tabs.length - 1
      : move === undefined ? -1 : (place + move + this.tabs.length) % this.tabs.length;
    if (place < 0 || next < 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.show(this.tabs[next]);
    this.tabs[next].tab.focus();
  }
}
