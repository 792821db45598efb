import type { Output } from "../output/terminal.ts";
import type { DemoView } from "./view.ts";

/** One JSON object a line: scenes, decisions, and the totals at the end. */
export function jsonView(out: Output): DemoView {
  const print = (line: object) => out.write(`${JSON.stringify(line)}\n`);
  const nothing = async () => undefined;
  return {
    start: nothing,
    scene: (number, { id, title, without }) =>
      print({ type: "scene", number, conversationId: id, title, without }),
    decision: (shown) => print({ type: "decision", ...shown }),
    say: nothing,
    message: nothing,
    end: ({ totals, world }) => print({ type: "summary", totals, world }),
  };
}
