// The one place that reads the environment.

/** What the names of all variables of the configuration begin with. */
export const VARIABLE_PREFIX = "CALLGATE_";

export type Env = {
  /** `CALLGATE_LOG`: `debug`, `info`, `warn`, `error` or `silent`; undefined: not set. */
  readonly logLevel: string | undefined;
  /** `NO_COLOR` is set, to whatever. */
  readonly noColor: boolean;
  /** `FORCE_COLOR` is set to something else than 0. */
  readonly forceColor: boolean;
  /** `CALLGATE_DEBUG` is set: unexpected errors are shown with their stack. */
  readonly debug: boolean;
  /** `TERM` is `dumb`: the terminal shows text and nothing else. */
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

/** Every variable of ours that is set to something, by name. */
export function readConfigVariables(): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const [name, text] of Object.entries(process.env)) {
    const value = dropEmpty(text);
    if (name.startsWith(VARIABLE_PREFIX) && value !== undefined) variables.set(name, value);
  }
  return variables;
}

/** A variable that is set to nothing counts as not set. */
function dropEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}
