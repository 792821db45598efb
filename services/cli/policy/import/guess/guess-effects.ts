/** Guesses which resources a write changes, as templates over its arguments. */
import type { DeclaredEffect } from "../../../../core/policy/document.ts";
import type { WriteGuess } from "./guess-class.ts";
import { membersOf, type Parameter } from "./parameters.ts";
import { singularOf } from "./split-name.ts";

/** Ids that name one thing wherever it is, so that nothing else need be chosen with them. */
const UNIQUE = new Set(["id", "ids", "uuid", "guid", "arn", "sku", "vin", "iban", "sha"]);

/** What money does, by the verb or noun that says it: tools of one word share their resource. */
const MOVEMENTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    payment: "pay charge bill capture checkout purchase buy payment checkout invoice tip donate",
    refund: "refund reimburse disburse reimbursement",
    transfer: "transfer wire remit withdraw payout deposit fund money transaction funds",
  }).flatMap(([name, words]) => words.split(" ").map((word): [string, string] => [word, name])),
);

/** The effects of a write; none where nothing says what it changes. */
export function guessEffects(
  write: WriteGuess,
  parameters: readonly Parameter[],
): readonly DeclaredEffect[] {
  switch (write.kind) {
    case null:
    case "run":
      return [];
    case "touch":
      return [{ resource: "page", kind: "update", exclusive: false }];
    case "create":
      return made(write, parameters, "create");
    case "send":
      return made({ ...write, noun: write.noun || "message" }, parameters, "send");
    case "charge":
      return charged(write, parameters);
    case "grant":
    case "update":
      return changed(write, parameters, "update");
    case "delete":
      return changed(write, parameters, "delete");
  }
}

/** Begins the name of a thing that has no id yet, so that no title is taken for an id. */
export const NEW = "new_";

const NAMES_THING: ReadonlySet<string> = new Set(["id", "scope", "path", "url"]);

/** A thing that is made or sent: chosen by where it goes and by what it says. */
function made(
  { noun, verb }: WriteGuess,
  parameters: readonly Parameter[],
  kind: "create" | "send",
): readonly DeclaredEffect[] {
  const parts = required(parameters).filter(({ role }) =>
    ["id", "scope", "recipient", "title", "date", "amount", "path", "url"].includes(role),
  );
  const hasName = parts.some(({ role }) => role !== "scope" && role !== "id");
  const content = required(parameters).filter(({ role }) => role === "content" || role === "note");
  const base = noun || parts.find(({ stem }) => stem !== null)?.stem || verb;
  const chosen = hasName && kind === "create" ? parts : [...parts, ...content];
  const all = chosen.length > 0 ? chosen : required(parameters);
  const byContent = kind === "create" && !all.every(({ role }) => NAMES_THING.has(role));
  const made = effect(byContent ? `${NEW}${base}` : base, all, { kind, exclusive: false });
  return kind === "send" && content.length === 0 ? [...made, ...sentThing(parameters)] : made;
}

/** What is sent without being written into the call: once it changes, it may be sent again. */
function sentThing(parameters: readonly Parameter[]): readonly DeclaredEffect[] {
  const thing = required(parameters).find(({ role, stem }) => role === "id" && stem !== null);
  if (thing === undefined) return [];
  return effect(thing.stem ?? "", [thing], { kind: "update", exclusive: false });
}

function charged(write: WriteGuess, parameters: readonly Parameter[]): readonly DeclaredEffect[] {
  const head = write.noun.split("_").at(-1) ?? "";
  const movement = MOVEMENTS.get(write.verb) ?? MOVEMENTS.get(head) ?? (write.noun || write.verb);
  const parts = required(parameters).filter(({ role }) => role !== "note" && role !== "key");
  // Another 100 put aside is another 100; one order is paid once.
  const isOnce = parts.some(isPaidThing);
  const own = ownThing(write, parameters);
  const touched =
    own === null || !own.parts.some(isPaidThing) || own.parts.some(({ isRequired }) => !isRequired)
      ? []
      : effect(own.base, own.parts, { kind: "update", exclusive: false });
  return [...effect(movement, parts, { kind: "charge", exclusive: isOnce }), ...touched];
}

/** Whose money moves says nothing about what is paid. */
const PARTIES: ReadonlySet<string> = new Set(
  "account customer user from to source target recipient beneficiary card wallet pot mandate employee contact client iban payer payee".split(
    " ",
  ),
);
const PAID_BY: ReadonlySet<string> = new Set(["id", "uuid", "number", "reference", "ref"]);

function isPaidThing({ role, isList, words }: Parameter): boolean {
  const last = words.at(-1) ?? "";
  return role === "id" && !isList && PAID_BY.has(last) && !words.some((word) => PARTIES.has(word));
}

function changed(
  write: WriteGuess,
  parameters: readonly Parameter[],
  kind: "update" | "delete",
): readonly DeclaredEffect[] {
  const own = ownThing(write, parameters);
  if (own === null) {
    return write.noun === "" ? [] : [{ resource: write.noun, kind, exclusive: false }];
  }
  // An id that the server made is never used again; a name or path may be.
  const exclusive = kind === "delete" && own.isUnique;
  return effect(own.base, own.parts, { kind, exclusive });
}

type OwnThing = {
  readonly base: string;
  readonly parts: readonly Parameter[];
  readonly isUnique: boolean;
};

/** The existing thing that the call acts on; null where no argument names it. */
function ownThing({ noun, verb }: WriteGuess, parameters: readonly Parameter[]): OwnThing | null {
  const candidates = [...parameters, ...parameters.flatMap(membersOf)];
  const needed = candidates.filter(({ isRequired }) => isRequired);
  const own =
    ownId(noun, needed) ??
    nameOf(noun, needed) ??
    ownId(noun, candidates) ??
    nameOf(noun, candidates);
  if (own === null) return null;
  const base = own.role === "path" ? "file" : (own.stem ?? (noun || verb));
  const last = own.words.at(-1) ?? "";
  const isUnique =
    own.role === "id" && own.isRequired && UNIQUE.has(last) && isStemOf(own.stem, noun);
  const around = isUnique ? [] : required(parameters).filter((one) => isAround(one, own));
  const parts = parameters.filter((one) => around.includes(one) || one === own);
  return { base, parts: parts.includes(own) ? parts : [...parts, own], isUnique };
}

function isStemOf(stem: string | null, noun: string): boolean {
  if (stem === null || noun === "") return true;
  return (
    noun === stem || noun.endsWith(`_${stem}`) || stem.endsWith(`_${noun}`) || stem.endsWith(noun)
  );
}

function isAround(one: Parameter, own: Parameter): boolean {
  if (one === own || one.isList) return false;
  return ["id", "scope", "recipient"].includes(one.role);
}

function ownId(noun: string, candidates: readonly Parameter[]): Parameter | null {
  const needed = candidates.filter(({ role }) => role === "id");
  const head = noun.split("_").at(-1) ?? "";
  return (
    needed.find(({ stem }) => stem !== null && stem === noun) ??
    needed.find(({ stem }) => stem !== null && (stem === head || isStemOf(stem, noun))) ??
    needed.find(({ stem }) => stem === null) ??
    needed.at(-1) ??
    null
  );
}

/** `device` of `set_device`, `path`, `name`. */
function nameOf(noun: string, candidates: readonly Parameter[]): Parameter | null {
  const needed = candidates.filter(({ type }) => type === "string" || type === null);
  const head = noun.split("_").at(-1) ?? "";
  return (
    needed.find(({ words }) => singularOf(words.join("_")) === noun) ??
    needed.find(({ words }) => words.length === 1 && singularOf(words[0] ?? "") === head) ??
    needed.find(({ role }) => role === "path") ??
    needed.find(({ words, role }) => role === "title" && words.at(-1) === "name") ??
    needed.find(({ role }) => role === "scope" || role === "recipient") ??
    needed.find(({ role }) => role === "url") ??
    needed.find(({ role }) => role === "title") ??
    null
  );
}

function required(parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.filter(({ isRequired, role }) => isRequired && role !== "key");
}

type Shape = Pick<DeclaredEffect, "kind" | "exclusive">;

function effect(base: string, parts: readonly Parameter[], shape: Shape): DeclaredEffect[] {
  const [list] = parts.filter((one) => one.isList);
  // Where a thing is goes first, so that tools that list their arguments otherwise name it alike.
  const isWhere = ({ role }: Parameter): boolean => role === "scope";
  const segments = [...parts.filter(isWhere), ...parts.filter((one) => !isWhere(one))]
    .filter((one) => isPlaceholder(one.name) && (!one.isList || one === list))
    .map((one) => `{${one.name}${one.isList && one.type !== "object" ? "[]" : ""}}`);
  return [{ resource: [base, ...segments].join("/"), ...shape }];
}

const PLACEHOLDER_NAME = /^[A-Za-z_$][\w$-]*(?:\[\]\.[A-Za-z_$][\w$-]*)?$/;

/** A name with a dot or brace would mean something else in a template. */
function isPlaceholder(name: string): boolean {
  return PLACEHOLDER_NAME.test(name);
}
