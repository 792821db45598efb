/** Which rule further calls are given of, for whoever gives them. */
import type { RuleScope } from "../../core/events.ts";
import { revealed } from "../output/revealed.ts";

const TEXT_CHARACTERS = 80;

/** `of network, not of destroy` */
export function shownScope({ of, notOf }: RuleScope): string {
  const others = notOf.map((name) => revealed(name, TEXT_CHARACTERS));
  const not = others.length === 0 ? "" : `, not of ${others.join(", ")}`;
  return `of ${revealed(of, TEXT_CHARACTERS)}${not}`;
}
