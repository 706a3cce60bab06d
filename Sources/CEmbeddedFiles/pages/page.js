"use strict";
// Text of files reaches the page only as text of elements that are made here.

const data = JSON.parse(document.getElementById("data").textContent);

function byID(id) { return document.getElementById(id); }

/** A new element: text goes in as text, other properties by their names, children at its end. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key === "text") made.textContent = value;
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

/** A reference to a file beside the page; null for whatever leads elsewhere. */
function relative(reference) {
  return reference && !/^([a-z][a-z0-9+.-]*:|[\/\\])/i.test(reference) ? reference : null;
}

function padded(number, width = 2) { return String(number).padStart(width, "0"); }

/** Seconds as H:MM:SS with decimals; the hours only if there are any. */
function clockText(seconds, decimals = 0) {
  const unit = 10 ** decimals;
  const units = Math.round(Math.abs(seconds) * unit);
  const whole = Math.floor(units / unit);
  const hours = Math.floor(whole / 3600);
  const rest = `${padded(Math.floor(whole / 60) % 60, hours ? 2 : 1)}:${padded(whole % 60)}`;
  const fraction = decimals ? `.${padded(units % unit, decimals)}` : "";
  return `${seconds < 0 && units ? "-" : ""}${hours ? `${hours}:` : ""}${rest}${fraction}`;
}

function plural(count, one, many = `${one}s`) { return `${count.toLocaleString("en")} ${count === 1 ? one : many}`; }

/** The badge of a verdict, a word in its colour. */
function badge(verdict) { return element("span", {class: `badge ${verdict || "none"}`, text: verdict || "not checked"}); }
