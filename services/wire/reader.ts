import type { Type } from "avsc";

/** Why bytes could not be read, for whoever wrote them. Never leaves this folder as it is. */
export class UndecodableError extends Error {
  override readonly name = "UndecodableError";
}

/** It is in the wire format of a registry, and there is none. */
export class RegistryNeededError extends UndecodableError {}

export type Resolver = ReturnType<Type["createResolver"]>;

/** How to read what was written with one schema. */
export type Reader = {
  /** Where the record's body begins. */
  readonly prefixLength: number;
  /** Undefined: it was written with the present schema. */
  readonly resolver: Resolver | undefined;
};
