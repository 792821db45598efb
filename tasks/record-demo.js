// `npm run demo:record`: runs the demo and draws its output as `docs/images/demo.svg`, a terminal that
// scrolls. A picture needs no player, and a test compares its text with today's output of the demo.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

export const RECORDING = join(ROOT, "docs", "images", "demo.svg");

const COLUMNS = 100;
const ROWS = 27;
const CHARACTER_WIDTH = 7.8;
const LINE_HEIGHT = 18;
const FONT_SIZE = 13;
const MARGIN = 16;
const LINE_SECONDS = 0.3;
const SCENE_SECONDS = 1.4;
const END_SECONDS = 6;

/** Colours by the beginning of a line. @type {readonly (readonly [RegExp, string])[]} */
const PAINTS = [
  [/^\d+\. /, "scene"],
  [/^ +✓ /, "good"],
  [/^ += /, "good"],
  [/^ +✗ /, "bad"],
  [/^ +… /, "waiting"],
  [/^ {3}without the gate/, "dim"],
  [/^ {6}/, "dim"],
];

/** @param {string} text */
const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** @param {string} line */
const paintOf = (line) => PAINTS.find(([pattern]) => pattern.test(line))?.[1] ?? "plain";

/** The second at which each line appears. @param {readonly string[]} lines */
function timesOf(lines) {
  let seconds = 0;
  return lines.map((line) => {
    seconds += paintOf(line) === "scene" ? SCENE_SECONDS : LINE_SECONDS;
    return seconds;
  });
}

/** Scrolls one step for each line that no longer fits. @param {readonly number[]} times */
function keyframesOf(times) {
  const total = (times.at(-1) ?? 0) + END_SECONDS;
  const steps = times.map((time, index) => {
    const shift = (ROWS - index - 1) * LINE_HEIGHT;
    return `${((time / total) * 100).toFixed(2)}%{transform:translateY(${shift}px)}`;
  });
  const first = `0%{transform:translateY(${ROWS * LINE_HEIGHT}px)}`;
  const last = `100%{transform:translateY(${(ROWS - times.length) * LINE_HEIGHT}px)}`;
  return { total, text: `@keyframes scroll{${first}${steps.join("")}${last}}` };
}

/** @param {readonly string[]} lines */
export function drawRecording(lines) {
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH) + 2 * MARGIN;
  const height = ROWS * LINE_HEIGHT + 2 * MARGIN;
  const { total, text } = keyframesOf(timesOf(lines));
  const rows = lines.map((line, index) => {
    const y = (index + 1) * LINE_HEIGHT - 5;
    return `<text class="${paintOf(line)}" y="${y}">${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>The demo of Callgate: six scenes of an agent going wrong, each call decided before it runs</title>
<style>
${text}
text{font:${FONT_SIZE}px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d0d7de;white-space:pre}
.scene{font-weight:bold;fill:#ffffff}.good{fill:#56d364}.bad{fill:#ff7b72}.waiting{fill:#e3b341}.dim{fill:#8b949e}
.screen{animation:scroll ${total.toFixed(1)}s step-end infinite}
</style>
<clipPath id="window"><rect width="${width - 2 * MARGIN}" height="${ROWS * LINE_HEIGHT}"/></clipPath>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g transform="translate(${MARGIN} ${MARGIN})" clip-path="url(#window)"><g class="screen" xml:space="preserve">
${rows.join("\n")}
</g></g>
</svg>
`;
}

/** The demo's output without a terminal. */
function runDemo() {
  const command = join(ROOT, "bin", "callgate.js");
  return execFileSync(process.execPath, [command, "demo"], { cwd: ROOT, encoding: "utf8" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  ensureInstalled();
  mkdirSync(dirname(RECORDING), { recursive: true });
  writeFileSync(RECORDING, drawRecording(runDemo().trimEnd().split("\n")));
  process.stdout.write(`wrote ${RECORDING}\n`);
}
