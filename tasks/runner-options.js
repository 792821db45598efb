// Options of the runners in package.json. An unknown option ends the run before it begins; otherwise a
// mistyped option would silently switch its check off.
import { parseArgs } from "node:util";

const EXIT_USAGE = 2;

/**
 * @typedef {{ type: "boolean" | "string", multiple?: boolean, default?: boolean | string | string[] }} Option
 */

/**
 * Parses the options. Ends the process with exit code 2 and a list of options when one is unknown.
 * @template {Record<string, Option>} T
 * @param {string} name the script as `npm run` knows it
 * @param {T} options
 * @param {readonly string[]} [args]
 * @returns {ReturnType<typeof parseArgs<{ options: T }>>["values"]}
 */
export function runnerOptions(name, options, args = process.argv.slice(2)) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const usages = Object.entries(options).map(usage).join(", ");
    const what = error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error);
    process.stderr.write(
      `${name}: ${what}; ${usages ? `options: ${usages}` : "it has no options"}\n`,
    );
    process.exit(EXIT_USAGE);
  }
}

/**
 * The number that an option has. Ends the process like {@link runnerOptions} where it has none.
 * @param {string} name the script as `npm run` knows it
 * @param {string} option without its dashes
 * @param {string} text
 * @returns {number} above 0 and finite
 */
export function positiveOption(name, option, text) {
  const number = Number(text);
  if (number > 0 && Number.isFinite(number)) return number;
  process.stderr.write(`${name}: option '--${option}' is a number above 0, and not '${text}'\n`);
  process.exit(EXIT_USAGE);
}

/**
 * The text of an option with a few choices. Ends the process like {@link runnerOptions} where it is another text.
 * @param {string} name the script as `npm run` knows it
 * @param {string} option without its dashes
 * @param {string} text
 * @param {readonly string[]} choices
 */
export function choiceOption(name, option, text, choices) {
  if (choices.includes(text)) return text;
  process.stderr.write(
    `${name}: option '--${option}' is ${choices.join(" or ")}, and not '${text}'\n`,
  );
  process.exit(EXIT_USAGE);
}

/** @param {[string, Option]} option */
function usage([name, { type, multiple }]) {
  const value = type === "string" ? " VALUE" : "";
  return `--${name}${value}${multiple === true ? " (more than once)" : ""}`;
}
