import type { Type } from "avsc";

/**
 * Why bytes could not be decoded, for the program that wrote them. Other folders never see this
 * error as it is.
 */
export class UndecodableError extends Error {
  override readonly name = "UndecodableError";
}

/** The bytes are in the wire format of a registry, and no registry is configured. */
export class RegistryNeededError extends UndecodableError {}

export type Resolver = ReturnType<Type["createResolver"]>;

/** How to read what was written with one schema. */
export type Reader = {
  /** Offset at which the record's body begins. */
  readonly prefixLength: number;
  /** Undefined: the current schema wrote the record. */
  readonly resolver: Resolver | undefined;
};
