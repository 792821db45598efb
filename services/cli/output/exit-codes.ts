/** What a command's end tells its caller. */
export const EXIT_OK = 0;
/** `lint`, `test`, `verify`, `backtest` and `demo` on a cluster: they found what they look for. */
export const EXIT_FINDINGS = 1;
/** What was asked or handed in is wrong: options, a policy, a recording. */
export const EXIT_USAGE = 2;
/** Environment error: an unreadable file, a lock, a full disk, a defect of ours. */
export const EXIT_ENVIRONMENT = 3;

export type ExitCode = 0 | 1 | 2 | 3;
