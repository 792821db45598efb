/** A segment that is empty, `.` or `..`, in a path other than `.` itself. */
const HAS_ODD_SEGMENT = /(?:\/|^(?![/]|\.$))\.{0,2}(?:\/|$)/;

/**
 * `path` as resolved from `directory`, without `.`, doubled slashes and segments that `..` undoes.
 * By text alone: links are not followed. `.` is the workspace, `~` the home directory.
 */
export function joinPath(directory: string, path: string): string {
  if (HAS_ODD_SEGMENT.test(path) || HAS_ODD_SEGMENT.test(directory))
    return resolve(directory, path);
  if (path === ".") return directory;
  return directory === "." || /^[/~]/.test(path) ? path : `${directory}/${path}`;
}

function resolve(directory: string, path: string): string {
  const from = /^[/~]/.test(path) ? "" : directory;
  const segments: string[] = [];
  for (const segment of `${from}/${path}`.split("/")) {
    const last = segments.at(-1);
    if (segment === "" || segment === ".") continue;
    if (segment !== ".." || last === undefined || last === ".." || last.startsWith("~"))
      segments.push(segment);
    else segments.pop();
  }
  const isAbsolute = path.startsWith("/") || from.startsWith("/");
  if (!isAbsolute) return segments.join("/") || ".";
  while (segments[0] === "..") segments.shift();
  return `/${segments.join("/")}`;
}
