/** How long any answer may take where the program says nothing else. */
export const TIMEOUT_MS = 30_000;
