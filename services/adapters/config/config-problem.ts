/** One thing that is wrong with the configuration. */
export type ConfigProblem = {
  /** `callgate.yaml:3:5`, the name of a variable, or what the whole was read from. */
  readonly where: string;
  /** `kafka.brokers`; empty where no key is concerned. */
  readonly key: string;
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
};

/** One problem as one line for people. */
export function formatConfigProblem({ where, key, message, remedy }: ConfigProblem): string {
  const keyPrefix = key === "" || where === key ? "" : `${key}: `;
  return `${where}: ${keyPrefix}${message}; ${remedy}`;
}
