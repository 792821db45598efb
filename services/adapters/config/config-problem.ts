/** One problem of the configuration. */
export type ConfigProblem = {
  /** `callgate.yaml:3:5`, the name of a variable, or the source of the whole configuration. */
  readonly where: string;
  /** `kafka.brokers`; empty where the problem is of no key. */
  readonly key: string;
  readonly message: string;
  /** What the user can do about it. */
  readonly remedy: string;
};

/** A problem whose location is not known yet. */
export type UnplacedProblem = Omit<ConfigProblem, "where">;

/** Returns the value of a key as written; undefined: the key was not written. */
export type ReadKey = (name: string) => unknown;

export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/** Formats a problem as one line. */
export function formatConfigProblem({ where, key, message, remedy }: ConfigProblem): string {
  const keyPrefix = key === "" || where === key ? "" : `${key}: `;
  return `${where}: ${keyPrefix}${message}; ${remedy}`;
}
