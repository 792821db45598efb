export interface Loop {
  readonly period: number;
  readonly first: number;
  readonly last: number;
}

const RUN_MIN = 5;
const ROUNDS_MIN = 5;
const PERIODS = [2, 3] as const;

/**
 * The longest severe loop: a run of identical calls that holds five in a row with one output, or a
 * cycle of two or three calls for five rounds; null where there is none. The scorer's definition.
 */
export function longestLoop(
  identities: readonly string[],
  outputs: readonly (string | null)[],
): Loop | null {
  const loops = [...runs(identities, outputs), ...PERIODS.flatMap((p) => cycles(identities, p))];
  const length = ({ first, last }: Loop) => last - first + 1;
  loops.sort((a, b) => length(b) - length(a) || a.period - b.period || a.first - b.first);
  return loops[0] ?? null;
}

function runs(identities: readonly string[], outputs: readonly (string | null)[]): Loop[] {
  const loops: Loop[] = [];
  for (let first = 0; first < identities.length; ) {
    let last = first;
    let streak = 1;
    let longest = 1;
    while (last + 1 < identities.length && identities[last + 1] === identities[first]) {
      last += 1;
      const output = outputs[last] ?? null;
      streak = output !== null && output === outputs[last - 1] ? streak + 1 : 1;
      longest = Math.max(longest, streak);
    }
    if (longest >= RUN_MIN) loops.push({ period: 1, first, last });
    first = last + 1;
  }
  return loops;
}

function cycles(identities: readonly string[], period: number): Loop[] {
  const loops: Loop[] = [];
  let at = period;
  while (at < identities.length) {
    const start = at;
    while (at < identities.length && identities[at] === identities[at - period]) at += 1;
    const first = start - period;
    const rounds = Math.floor((at - first) / period);
    const kinds = new Set(identities.slice(first, start)).size;
    if (at > start && rounds >= ROUNDS_MIN && kinds > 1) {
      loops.push({ period, first, last: at - 1 });
    }
    if (at === start) at += 1;
  }
  return loops;
}
