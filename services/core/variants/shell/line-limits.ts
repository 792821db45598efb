/** How much of a line is read. */

/** Substitutions and groups inside of each other. */
export const DEPTH_MAX = 16;

/** Longest line that is read, in characters. */
export const LENGTH_MAX = 65_536;

/** What braces make of the words of a line, in characters. */
export const EXPANDED_MAX = 262_144;
