// The only file that reads the environment.

/** Prefix of all variables of the configuration. */
export const VARIABLE_PREFIX = "CALLGATE_";

export type Env = {
  /** `CALLGATE_LOG`: `debug`, `info`, `warn`, `error` or `silent`; undefined: not set. */
  readonly logLevel: string | undefined;
  /** `NO_COLOR` is set to any value. */
  readonly noColor: boolean;
  /** `FORCE_COLOR` is set to a value other than 0. */
  readonly forceColor: boolean;
  /** `CALLGATE_DEBUG` is set: unexpected errors are shown with their stack. */
  readonly debug: boolean;
  /** `TERM` is `dumb`: the terminal supports no escape sequences. */
  readonly dumbTerminal: boolean;
};

export function readEnv(): Env {
  const { CALLGATE_LOG, CALLGATE_DEBUG, NO_COLOR, FORCE_COLOR, TERM } = process.env;
  return {
    logLevel: dropEmpty(CALLGATE_LOG),
    noColor: dropEmpty(NO_COLOR) !== undefined,
    forceColor: dropEmpty(FORCE_COLOR) !== undefined && FORCE_COLOR !== "0",
    debug: dropEmpty(CALLGATE_DEBUG) !== undefined,
    dumbTerminal: TERM === "dumb",
  };
}

/** All non-empty variables with our prefix, by name. */
export function readConfigVariables(): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const [name, text] of Object.entries(process.env)) {
    const value = dropEmpty(text);
    if (name.startsWith(VARIABLE_PREFIX) && value !== undefined) variables.set(name, value);
  }
  return variables;
}

/** The environment for a process that this one starts, with variables added or replaced. */
export function environmentWith(
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  return { ...process.env, ...variables };
}

/** An empty variable counts as not set. */
function dropEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}
