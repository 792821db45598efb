/** Compares what an import writes about tools with their labels. */
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import { importTools } from "../../../services/cli/policy/import/import-tools.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import { compileGatePolicy, type GatePolicy } from "../../../services/gate/gate-policy.ts";
import type { ToolLabel, ToolSource } from "./tool-corpus.ts";

/** Counts of tools. */
export interface ImportScore {
  readonly reads: number;
  readonly readsRecognized: number;
  readonly writes: number;
  readonly writesAsReads: number;
  /** Writes whose label names an effect. */
  readonly withEffect: number;
  readonly usableEffects: number;
  readonly harmless: number;
  readonly harmlessHeld: number;
  readonly keys: number;
  readonly keysRecognized: number;
  readonly wrongKeys: number;
  readonly wrong: readonly string[];
}

export function scoreSource(source: ToolSource, trusted: boolean): ImportScore {
  const { name, json, format, labels } = source;
  const imported = importTools([{ name, json }], format, { trusted });
  if (!imported.ok) throw new Error(`${name}: ${JSON.stringify(imported.problems)}`);
  const compiled = compileGatePolicy(loadPolicy([{ name, text: imported.yaml }]), capabilities);
  if (!compiled.ok) throw new Error(`${name}: ${JSON.stringify(compiled.problems)}`);
  return sumScores(
    Object.entries(labels).map(([tool, label]) => scoreTool(tool, label, compiled.policy, name)),
  );
}

interface Answer {
  readonly isRead: boolean;
  readonly isHeld: boolean;
  readonly resources: readonly string[];
  readonly isUsable: boolean;
  readonly key: string | null;
}

function scoreTool(
  tool: string,
  label: ToolLabel,
  policy: GatePolicy,
  source: string,
): ImportScore {
  const answer = answerOn(tool, label, policy);
  const { isRead, isHeld, isUsable, key } = answer;
  const [isReadLabel, hasKey] = [label.kind === "read", label.key !== null];
  const count = (condition: boolean): number => (condition ? 1 : 0);
  return {
    reads: count(isReadLabel),
    readsRecognized: count(isReadLabel && isRead),
    writes: count(!isReadLabel),
    writesAsReads: count(!isReadLabel && isRead),
    withEffect: count(label.effect !== null),
    usableEffects: count(isUsable),
    harmless: count(label.harmless),
    harmlessHeld: count(label.harmless && isHeld),
    keys: count(hasKey),
    keysRecognized: count(hasKey && key === label.key),
    wrongKeys: count(key !== null && key !== label.key),
    wrong: wrongIn(answer, label).map((what) => `${source} ${tool}: ${what}`),
  };
}

function answerOn(tool: string, label: ToolLabel, { compiled, document }: GatePolicy): Answer {
  const { isRead, tier } = compiled.tool(tool);
  const entry = document.tool_schemas?.[tool];
  const resources = (entry?.effects ?? []).map(({ resource }) => resource);
  return {
    isRead,
    isHeld: tier.action === "hitl" || tier.action === "deny",
    resources,
    isUsable: label.effect !== null && !isRead && isUsableEffect(resources, label.effect),
    key: entry?.idempotency_argument ?? null,
  };
}

function wrongIn(
  { isRead, isHeld, resources, isUsable, key }: Answer,
  { kind, effect, harmless, key: wanted }: ToolLabel,
): readonly string[] {
  const said: readonly (readonly [boolean, string])[] = [
    [kind === "read" && !isRead, "a read taken for a write"],
    [kind === "write" && isRead, "A WRITE TAKEN FOR A READ"],
    [
      effect !== null && !isUsable,
      `effect ${effect?.resource}, not ${resources.join(" ") || "none"}`,
    ],
    [harmless && isHeld, "harmless and held"],
    [key !== wanted, `key ${wanted}, not ${key}`],
  ];
  return said.filter(([is]) => is).map(([, what]) => what);
}

const PLACEHOLDER = /\{([^{}]*)\}/g;

/**
 * An effect is usable if it names one of the arguments that the label names the thing by; where the
 * label names none, if there is one at all.
 */
function isUsableEffect(
  resources: readonly string[],
  label: NonNullable<ToolLabel["effect"]>,
): boolean {
  const wanted = placeholdersIn(label.resource);
  if (wanted.size === 0) return resources.length > 0;
  return resources.some((resource) =>
    [...placeholdersIn(resource)].some((name) => wanted.has(name)),
  );
}

/** `{files[].path}` is an argument of `files`. */
function placeholdersIn(resource: string): ReadonlySet<string> {
  return new Set(
    [...resource.matchAll(PLACEHOLDER)].map(([, name = ""]) => name.split(/[.[]/)[0] ?? ""),
  );
}

export function sumScores(scores: readonly ImportScore[]): ImportScore {
  const sum = (of: (score: ImportScore) => number): number =>
    scores.reduce((total, score) => total + of(score), 0);
  return {
    reads: sum(({ reads }) => reads),
    readsRecognized: sum(({ readsRecognized }) => readsRecognized),
    writes: sum(({ writes }) => writes),
    writesAsReads: sum(({ writesAsReads }) => writesAsReads),
    withEffect: sum(({ withEffect }) => withEffect),
    usableEffects: sum(({ usableEffects }) => usableEffects),
    harmless: sum(({ harmless }) => harmless),
    harmlessHeld: sum(({ harmlessHeld }) => harmlessHeld),
    keys: sum(({ keys }) => keys),
    keysRecognized: sum(({ keysRecognized }) => keysRecognized),
    wrongKeys: sum(({ wrongKeys }) => wrongKeys),
    wrong: scores.flatMap(({ wrong }) => wrong),
  };
}
