/** `services/core/policy/document.ts`: the types of a loaded policy, read from the vocabulary. */
import type { z } from "zod";
import { policyDocument } from "../../services/adapters/policy/vocabulary/blocks.ts";
import { TYPE_NAMES } from "../../services/adapters/policy/vocabulary/key-facts.ts";

type Schema = z.core.$ZodType;

const HEAD = `/**
 * The policy document after loading: what an author wrote, with the two positions of a block (top
 * level and \`policy_engine:\`) and all merged files folded into one plain object. Keys keep the
 * author's spelling; an absent key was not written, so the preset decides. Nothing in here is
 * compiled. What each key means is in docs/policy-reference.md.
 *
 * Written by \`npm run schemas\` from the vocabulary (\`services/adapters/policy/vocabulary\`).
 */
`;

export function policyTypesText(): string {
  const writer = new TypeWriter();
  writer.typeOf(policyDocument);
  const imports = [...writer.imports].map(
    ([name, from]) => `import type { ${name} } from "${from}";\n`,
  );
  return [HEAD, ...imports, ...writer.declarations.values()].join("\n");
}

class TypeWriter {
  readonly imports = new Map<string, string>();
  readonly declarations = new Map<string, string>();

  typeOf(schema: Schema): string {
    const typeName = TYPE_NAMES.get(schema as z.ZodType);
    if (typeName === undefined) return this.#written(schema);
    const { name, from } = typeName;
    if (from !== undefined) this.imports.set(name, from);
    // A schema of no form of its own stands for the type that another one writes.
    else if (!this.declarations.has(name) && definitionOf(schema).type !== "unknown") {
      this.declarations.set(name, "");
      this.declarations.set(name, `export type ${name} = ${this.#written(schema)};\n`);
    }
    return name;
  }

  #written(schema: Schema): string {
    const def = definitionOf(schema);
    switch (def.type) {
      case "object":
        return this.#object(def.shape);
      case "record":
        return `Readonly<Record<string, ${this.typeOf(def.valueType)}>>`;
      case "array":
        return `readonly ${grouped(this.typeOf(def.element))}[]`;
      case "tuple":
        return `readonly [${def.items.map((item) => this.typeOf(item)).join(", ")}]`;
      case "union":
        return [...new Set(def.options.map((option) => this.typeOf(option)))].join(" | ");
      case "enum":
        return Object.values(def.entries).map(literal).join(" | ");
      case "literal":
        return def.values.map((value) => literal(value)).join(" | ");
      case "optional":
        return this.typeOf(def.innerType);
      case "pipe":
        return this.typeOf(def.out);
      case "string":
      case "number":
      case "boolean":
      case "null":
      case "unknown":
        return def.type;
      default:
        throw new Error(`the vocabulary has a ${def.type}, which has no type here: add a case`);
    }
  }

  #object(shape: Readonly<Record<string, Schema>>): string {
    const lines = Object.entries(shape).map(([key, value]) => {
      const optional = definitionOf(value).type === "optional" ? "?" : "";
      return `  readonly ${key}${optional}: ${this.typeOf(value)};\n`;
    });
    return `{\n${lines.join("")}}`;
  }
}

function definitionOf(schema: Schema): z.core.$ZodTypes["_zod"]["def"] {
  return schema._zod.def as z.core.$ZodTypes["_zod"]["def"];
}

function literal(value: unknown): string {
  return JSON.stringify(value);
}

function grouped(type: string): string {
  const isAlone = /^(\w+|\{[\s\S]*\})$/.test(type);
  return isAlone ? type : `(${type})`;
}
