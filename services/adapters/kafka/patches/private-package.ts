import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, sep } from "node:path";
import { compileFunction } from "node:vm";

type Loaded = { exports: unknown };

const require = createRequire(import.meta.url);
const PARAMETERS = ["exports", "require", "module", "__filename", "__dirname"];

/**
 * A private copy of a CommonJS package. Changes to the copy reach nobody else in the process: other
 * code that loads the package, before or after, has another copy. Modules of other packages that
 * the package requires are shared.
 */
export class PrivatePackage {
  readonly #name: string;
  /** Ends with a path separator. */
  readonly #folder: string;
  /** By file. A module is added before it runs, since modules may require each other. */
  readonly #modules = new Map<string, Loaded>();

  /** @throws Error where the package is not installed. */
  constructor(name: string) {
    this.#name = name;
    this.#folder = dirname(require.resolve(`${name}/package.json`)) + sep;
  }

  /** @param path the module's path in the package without extension; absent: the main module. */
  load(path?: string): unknown {
    return this.#module(this.#fileOf(path)).exports;
  }

  /**
   * Only modules that load afterwards get the replacement. @throws Error where no module is at
   * `path`.
   */
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

  /** Runs a module as Node does. */
  #run(file: string, module: Loaded): void {
    const body = compileFunction(readFileSync(file, "utf8"), PARAMETERS, { filename: file });
    const { exports } = module;
    const requireFrom = this.#requireFrom(file);
    Reflect.apply(body, exports, [exports, requireFrom, module, file, dirname(file)]);
  }

  /** Modules of kafkajs call `require` in hot functions, so resolved modules are cached. */
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
