/** Names that a statement is about beside its first one: in a list, or those for which another stands: `delete u from users u`. */

/** A piece of a statement. */
interface Said {
  /** In small letters; of a name in quotes `"`. */
  readonly word: string;
  /** A name without its quotes. */
  readonly bare: string;
}

/** A name, and the word before it. */
export interface FoundName {
  readonly before: string;
  /** A statement begins with that word. */
  readonly isStatement: boolean;
  readonly isListed: boolean;
  /** Where it begins, behind modifiers, and its last part. */
  readonly name: number;
  readonly last: number;
}

/** By where they begin: the name, and the one in whose place it could stand. */
export interface OtherName {
  readonly first: number;
  readonly name: number;
}

/** More in one statement are not told. */
const OTHERS_MAX = 256;

/** Their first names may be those that others have below. */
const RENAMING = new Set(["delete", "update"]);
/** Another name may stand behind what follows them. */
const RENAMED = new Set(["from", "join", "using", "update"]);

/** Null: they are too many. */
export function otherNames(
  pieces: readonly Said[],
  names: readonly FoundName[],
): readonly OtherName[] | null {
  const told = toldIn(pieces, names);
  const others = told
    .filter(({ isFurther }) => isFurther)
    .map(({ first, name }): OtherName => ({ first, name }));
  if (others.length > OTHERS_MAX) return null;
  const renamed = renamedIn(pieces, told);
  for (const { first, name } of told.filter((one) => mayBeRenamed(pieces, one))) {
    for (const other of renamed.get(bareAt(pieces, name)) ?? [])
      others.push({ first, name: other });
    if (others.length > OTHERS_MAX) return null;
  }
  return others;
}

interface ToldName extends FoundName {
  readonly first: number;
  /** It is what a statement changes that may say it by another name. */
  readonly isTarget: boolean;
  /** In a list of what a statement is about, and not of what it reads. */
  readonly isFurther: boolean;
}

function toldIn(pieces: readonly Said[], names: readonly FoundName[]): readonly ToldName[] {
  const told: ToldName[] = [];
  let first = 0;
  let isTarget = false;
  let isAhead = false;
  let isRead = false;
  for (const one of names) {
    const { before, isStatement, isListed, name } = one;
    if (!isListed) isTarget = isStatement ? RENAMING.has(before) : isAhead;
    // In `delete from users` the name is still to come.
    const isNone = isStatement && pieces[name]?.word === "from";
    isAhead = isNone && isTarget;
    if (isNone) continue;
    if (!isListed) [first, isRead] = [name, before === "from" && !isTarget];
    told.push({ ...one, first, isTarget, isFurther: isListed && !isRead });
  }
  return told;
}

function mayBeRenamed(pieces: readonly Said[], { isTarget, name, last }: ToldName): boolean {
  const isAll = last === name + 2 && pieces[last]?.word === "*";
  return isTarget && (last === name || isAll);
}

/** By another name, where what it stands for begins. */
function renamedIn(
  pieces: readonly Said[],
  told: readonly ToldName[],
): ReadonlyMap<string, readonly number[]> {
  const renamed = new Map<string, number[]>();
  for (const { before, isListed, name, last } of told) {
    const other = RENAMED.has(before) || isListed ? otherBehind(pieces, last) : null;
    if (other === null) continue;
    const places = renamed.get(other);
    if (places === undefined) renamed.set(other, [name]);
    else places.push(name);
  }
  return renamed;
}

/** `users u`, `users as u`. */
function otherBehind(pieces: readonly Said[], last: number): string | null {
  const at = pieces[last + 1]?.word === "as" ? last + 2 : last + 1;
  return pieces[at] === undefined ? null : bareAt(pieces, at);
}

function bareAt(pieces: readonly Said[], at: number): string {
  return pieces[at]?.bare.toLowerCase() ?? "";
}
