import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, sep } from "node:path";
import { compileFunction } from "node:vm";

type Loaded = { exports: unknown };

const require = createRequire(import.meta.url);
const PARAMETERS = ["exports", "require", "module", "__filename", "__dirname"];

/**
 * A CommonJS package of which we have a copy of our own. What is changed in it reaches nobody else in the process, and
 * whoever else has loaded the package, before or after, has another copy. What it requires of other packages is
 * everybody's.
 */
export class PrivatePackage {
  readonly #name: string;
  /** With a separator behind it. */
  readonly #folder: string;
  /** By file; in it from before it runs, as modules may require each other. */
  readonly #modules = new Map<string, Loaded>();

  /** @throws where the package is not installed. */
  constructor(name: string) {
    this.#name = name;
    this.#folder = dirname(require.resolve(`${name}/package.json`)) + sep;
  }

  /** @param path in the package, without extension; none: what the package exports. */
  load(path?: string): unknown {
    return this.#module(this.#fileOf(path)).exports;
  }

  /** Only modules that are loaded afterwards get the replacement. @throws where there is no such module. */
  replace(path: string, exports: unknown): void {
    this.#module(this.#fileOf(path)).exports = exports;
  }

  #fileOf(path: string | undefined): string {
    return require.resolve(path === undefined ? this.#name : join(this.#name, path));
  }

  #module(file: string): Loaded {
    const cached = this.#modules.get(file);
    if (cached !== undefined) return cached;
    const module: Loaded = { exports: {} };
    this.#modules.set(file, module);
    try {
      this.#run(file, module);
    } catch (error) {
      this.#modules.delete(file);
      throw error;
    }
    return module;
  }

  /** As node runs a module. */
  #run(file: string, module: Loaded): void {
    const body = compileFunction(readFileSync(file, "utf8"), PARAMETERS, { filename: file });
    const { exports } = module;
    const requireFrom = this.#requireFrom(file);
    Reflect.apply(body, exports, [exports, requireFrom, module, file, dirname(file)]);
  }

  /** Modules require each other again and again while they work: what was found is remembered. */
  #requireFrom(file: string): (id: string) => unknown {
    const theirs = createRequire(file);
    const modulesById = new Map<string, Loaded>();
    return (id) => {
      let module = modulesById.get(id);
      if (module === undefined) {
        const at = theirs.resolve(id);
        const isOurs = at.startsWith(this.#folder) && extname(at) === ".js";
        module = isOurs ? this.#module(at) : { exports: theirs(id) };
        modulesById.set(id, module);
      }
      return module.exports;
    };
  }
}
