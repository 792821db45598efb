/** The installed package: its data files and version. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const LEVELS_MAX = 8;

/**
 * The sources run from `services/`, the build from `dist/services/`; package.json is above both.
 */
export function packageRoot(): string {
  let url = new URL(".", import.meta.url);
  for (let level = 0; level < LEVELS_MAX; level += 1) {
    const directory = fileURLToPath(url);
    if (existsSync(join(directory, "package.json"))) return directory;
    url = new URL("..", url);
  }
  throw new Error("the package has no package.json: install it again");
}

export function packageVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(packageRoot(), "package.json"), "utf8"),
  );
  return manifest.version;
}

/** How a user starts this program: through npm in a checkout, by its name if installed. */
export function commandPrefix(): string {
  const isCheckout = existsSync(join(packageRoot(), "tasks"));
  return isCheckout ? "npm run -s callgate --" : "npx callgate";
}
