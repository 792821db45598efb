/** Where a path is, by its text alone: links are not followed. */
import { joinPath } from "../shell/directory.ts";
import { fitsPath } from "./glob.ts";

/**
 * `workspace`: the whole of it. `inside`: below it. `scratch`: below a temporary directory.
 * `readable`: elsewhere, free to read. `root_or_home`: the root, a device, a directory of the
 * system, a home, or a direct child of one.
 */
export type Position = "workspace" | "inside" | "scratch" | "readable" | "outside" | "root_or_home";

export interface PositionSettings {
  /** `.`, the start directory of the tool, or an absolute directory. */
  readonly workspace: string;
  /** Globs of paths outside the workspace that may be read. */
  readonly readable: readonly string[];
  /**
   * Globs of paths, or of names without `/`, that need approval wherever they are; `!` makes an
   * exception.
   */
  readonly secrets: readonly string[];
}

/** Paths are relative to `directory`, where `.` is the workspace. */
export interface Positions {
  readonly classify: (path: string, directory: string, access: "read" | "write") => Position;
  readonly isSecret: (path: string, directory: string) => boolean;
}

export const DEFAULT_SECRETS: readonly string[] =
  ".env* !.env.example !.env.sample *.pem *.key id_* credentials* .ssh .aws .gnupg .netrc .pgpass .git-credentials".split(
    " ",
  );

export const DEFAULT_READABLE: readonly string[] =
  "/usr /lib /opt /proc/self /proc/cpuinfo /proc/meminfo /proc/version /etc/os-release /dev/null /tmp".split(
    " ",
  );

/**
 * Free to write, as files of the workspace are, but never the directory itself; and devices that
 * store nothing.
 */
const SCRATCH = /^\/(?:tmp|var\/tmp)\/[^/*?[]|^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+)$/;

const SYSTEM =
  /^\/(?:bin|boot|dev|etc|lib\w*|proc|root|run|sbin|sys|usr|var(?!\/tmp\/)|System|Library|Applications)(?:\/|$)|^\/(?:home|Users)(?:\/[^/]+){0,2}$|^\/[^/]*$|^~[^/]*(?:\/[^/]*)?$|^~[^/]*\/\.\./;

/** Where the shell expands names, `.*` may be `..`. */
const MAY_BE_PARENT = /(^|\/)\.[*?[][^/]*/g;

export function createPositions({ workspace, readable, secrets }: PositionSettings): Positions {
  const start = joinPath(".", workspace);
  const globOf = (glob: string): readonly string[] =>
    glob.includes("/") && !glob.startsWith("**")
      ? segmentsOf(joinPath(start, glob).toLowerCase())
      : segmentsOf(glob.includes("/") ? glob.toLowerCase() : `**/${glob.toLowerCase()}`);
  const free = readable.map(globOf);
  const hidden = secrets.filter((glob) => !glob.startsWith("!")).map(globOf);
  const shown = secrets.filter((glob) => glob.startsWith("!")).map((one) => globOf(one.slice(1)));
  const maybe = anyName(hidden);
  const locate = (path: string, directory: string): string =>
    joinPath(joinPath(start, directory), path.replaceAll(MAY_BE_PARENT, "$1.."));
  const isReadable = (path: string): boolean =>
    path.startsWith("/") && free.some((glob) => fitsPath(glob, segmentsOf(path.toLowerCase())));
  return {
    classify: (path, directory, access) => {
      const located = locate(path, directory);
      const below = belowOf(start, located);
      if (below !== null) return classifyInside(below, access);
      if (SCRATCH.test(located)) return "scratch";
      if (access === "read" && isReadable(located)) return "readable";
      return SYSTEM.test(located) ? "root_or_home" : "outside";
    },
    isSecret: (path, directory) => {
      const located = locate(path, directory).toLowerCase();
      // Hardly any path has a part that may be a glob.
      const isGlob = /[*?[]/.test(located);
      if (!isGlob && !maybe.test(located)) return false;
      const segments = segmentsOf(located);
      const fits = (glob: readonly string[]): boolean => fitsPath(glob, segments);
      // A glob that matches a shown name may match a hidden one as well.
      return hidden.some(fits) && (isGlob || !shown.some(fits));
    },
  };
}

/**
 * Whether some segment matches the last one of a glob: every path that matches the glob has one.
 */
function anyName(globs: readonly (readonly string[])[]): RegExp {
  const names = globs.map((glob) => glob.findLast((segment) => segment !== "**") ?? "*");
  const sources = names.map((name) =>
    name
      .replaceAll(/[^\w*?]/g, "\\$&")
      .replaceAll("*", "[^/]*")
      .replaceAll("?", "[^/]"),
  );
  return sources.length === 0 ? /(?!)/ : new RegExp(`(?:^|/)(?:${sources.join("|")})(?:/|$)`);
}

function classifyInside(below: readonly string[], access: "read" | "write"): Position {
  // Every later git command runs the programs that files there name.
  if (access === "write" && below.includes(".git")) return "outside";
  return below.every((segment) => segment === "*") ? "workspace" : "inside";
}

function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/** The segments below the workspace; null where the path is outside. */
function belowOf(start: string, path: string): readonly string[] | null {
  if (path === start) return [];
  const isBelow =
    start === "." ? !/^(?:[/~]|\.\.(?:\/|$))/.test(path) : path.startsWith(`${start}/`);
  return isBelow ? segmentsOf(start === "." ? path : path.slice(start.length)) : null;
}
