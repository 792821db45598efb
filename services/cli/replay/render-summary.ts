/** The summary of a replay as tables for people. */
import type { Style } from "../output/style.ts";
import { textTable } from "../output/table.ts";
import { counted, printable } from "../output/text.ts";
import type { Summary } from "./summary.ts";

const TOOLS_SHOWN = 15;
const TOOL_CHARACTERS = 40;
const LOCATION_CHARACTERS = 60;

export function renderSummary(summary: Summary, style: Style): string {
  const { total } = summary;
  if (total.calls === 0) return "No calls: nothing to decide.\n";
  return [
    headline(summary, style),
    reasons(summary, style),
    tools(summary, style),
    worst(summary, style),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function headline(summary: Summary, style: Style): string {
  const { total, conversations, blockedConversations, stoppedConversations } = summary;
  const held = total.held > 0 ? `, ${style.waiting(`${total.held} held`)}` : "";
  const lines = [
    style.bold(`${counted(total.calls, "call")} in ${counted(conversations, "conversation")}`),
    `${style.good(`${total.allowed} allowed`)}, ${style.bad(`${total.refused} refused`)}${held}`,
  ];
  if (total.answered > 0) {
    const were = total.answered === 1 ? "was" : "were";
    lines.push(`of the refused, ${total.answered} ${were} answered with the earlier result`);
  }
  if (total.warned > 0) lines.push(`${counted(total.warned, "call")} came with a warning`);
  if (blockedConversations > 0) {
    lines.push(`${counted(blockedConversations, "conversation")} had a call refused or held`);
  }
  if (stoppedConversations > 0) {
    lines.push(`escalation stops ${counted(stoppedConversations, "conversation")}`);
  }
  return `${lines.join("\n")}\n`;
}

function reasons(summary: Summary, style: Style): string {
  if (summary.reasons.length === 0) return "";
  const rows = summary.reasons.map(({ reason, calls }) => [
    reason,
    calls,
    share(calls, summary.total.calls),
  ]);
  return textTable(["reason", "calls", "of all"], rows, style, [1, 2]);
}

function tools(summary: Summary, style: Style): string {
  const shown = summary.tools
    .slice(0, TOOLS_SHOWN)
    .map((tool) => [
      printable(tool.tool, TOOL_CHARACTERS),
      tool.calls,
      tool.allowed,
      tool.refused,
      tool.held,
      tool.warned,
    ]);
  const hidden = summary.tools.length - shown.length;
  const more = hidden > 0 ? `and ${hidden} more tools (--json lists all)\n` : "";
  const titles = ["tool", "calls", "allowed", "refused", "held", "warned"];
  return textTable(titles, shown, style, [1, 2, 3, 4, 5]) + more;
}

function worst(summary: Summary, style: Style): string {
  if (summary.worst.length === 0) return "";
  const rows = summary.worst.map(({ location, calls, blocked, stopped, reasons: why }) => [
    endOf(location, LOCATION_CHARACTERS),
    calls,
    blocked,
    stopped ? "yes" : "",
    Object.entries(why)
      .map(([reason, times]) => `${reason} ×${times}`)
      .join(", "),
  ]);
  const titles = ["worst conversations", "calls", "blocked", "stop", "reasons"];
  return textTable(titles, rows, style, [1, 2]);
}

/** The end of a location must stay, because it is the line number. */
function endOf(text: string, charactersMax: number): string {
  const plain = printable(text, text.length);
  return plain.length <= charactersMax ? plain : `…${plain.slice(1 - charactersMax)}`;
}

function share(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
