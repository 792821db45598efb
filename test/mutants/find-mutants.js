// Finds the possible changes of the checks and bounds of the engine, and writes all of them into the text
// at once, each behind a switch: `mutant(17) ? (a >= b) : (a > b)`. One copy of the tree therefore serves
// all of them.
//
// A bound is a comparison by size, or a number that has a name, is in a list or a record, is a default or
// one of two, is passed to a function by name, or is compared with. These are no bounds: 0 and other numbers
// that a variable starts from, the head of a `for`, characters and bits (written in hexadecimal), and
// numbers of a fast path (SHORT_CUTS).
//
// A check is an entry of CHECKS; and where calls are judged, each `if` without `else`, each choice between
// something and nothing, and each list of one finding.
import ts from "typescript";

/**
 * @typedef {{ file: string, line: number, text: string, from: string, to: string }} Mutant
 *   `text`: its line, without indentation
 * @typedef {{ node: import("typescript").Node, to: string }} Change
 */

/** The folders whose sources are changed. */
export const MUTATED_FOLDERS = ["services/core", "services/collections"];

/** A bound changes by one: the equal case is included or excluded. */
const NEIGHBOURS = new Map([
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
]);

const EQUALITIES = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

/** Files that judge calls. */
const JUDGES = /^services\/core\/(checks|decide)\//;

/**
 * Files with two ways to one result. A bound there says where the short way ends, which no test can notice.
 * Laws of test/property/core compare the two ways; a Bloom filter only saves a search, as the models of
 * test/unit/collections show.
 */
const SHORT_CUTS = /^services\/collections\/bloom-filter\.ts$/;

/** Functions and a file whose texts `callgate explain` prints: no decision depends on them. */
const EXPLAINING = /^show[A-Z]/;
const EXPLAINING_FILE = /^services\/core\/checks\/explain-row\.ts$/;

/** Processes that a test starts run without changes. */
const PROLOGUE = "const mutant = globalThis.callgateMutant ?? (() => false);";

/**
 * @param {string} file path in the repository
 * @param {string} text
 * @param {number} firstId
 * @returns {{ mutants: Mutant[], text: string }} the text with every mutant of it behind its switch
 */
export function instrument(file, text, firstId) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  /** @type {Change[]} */
  const changes = [];
  if (!SHORT_CUTS.test(file) && !EXPLAINING_FILE.test(file)) collect(source, changes);
  /** @type {Mutant[]} */
  const mutants = changes.map(({ node, to }) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    const lineText = text.split("\n")[line] ?? "";
    const from = node.getText().replace(/\s+/g, " ");
    return { file, line: line + 1, text: lineText.trim(), from, to: to.replace(/\s+/g, " ") };
  });
  return { mutants, text: PROLOGUE + written(source, changes, firstId) };
}

/**
 * @param {import("typescript").Node} node
 * @param {Change[]} changes
 */
function collect(node, changes) {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) {
    return;
  }
  if (ts.isFunctionDeclaration(node) && EXPLAINING.test(node.name?.text ?? "")) return;
  if (ts.isForStatement(node)) {
    // The head of a loop is no bound of the engine.
    collect(node.statement, changes);
    return;
  }
  if (ts.isBinaryExpression(node)) addComparison(node, changes);
  if (isNumber(node)) {
    addNumber(node, changes);
    return;
  }
  if (isCheckList(node)) addChecks(node, changes);
  if (JUDGES.test(node.getSourceFile().fileName)) addPartOfCheck(node, changes);
  ts.forEachChild(node, (child) => collect(child, changes));
}

/**
 * @param {import("typescript").BinaryExpression} node
 * @param {Change[]} changes
 */
function addComparison(node, changes) {
  const other = NEIGHBOURS.get(node.operatorToken.kind);
  if (other === undefined) return;
  changes.push({ node, to: `${node.left.getText()} ${other} ${node.right.getText()}` });
}

/**
 * Not for the number of a comparison by size: including or excluding the equal case has changed it
 * already.
 * @param {import("typescript").Expression} node
 * @param {Change[]} changes
 */
function addNumber(node, changes) {
  const { parent } = node;
  const text = node.getText();
  if (text.startsWith("0x")) return;
  const up = { node, to: `${text} + 1` };
  if (ts.isBinaryExpression(parent) && EQUALITIES.has(parent.operatorToken.kind)) {
    const before = parent.getText().slice(0, node.getStart() - parent.getStart());
    const behind = parent.getText().slice(node.getEnd() - parent.getStart());
    changes.push({ node: parent, to: `${before}${up.to}${behind}` });
    return;
  }
  const value = Number(text.replaceAll("_", ""));
  const turns = value !== 0 && value + 1 !== value;
  if (turns && hasMeaning(node)) changes.push(up, { node, to: `${text} - 1` });
}

/**
 * Whether the number is a constant, in a list or record, a default, or an argument of a named function.
 * @param {import("typescript").Expression} node
 */
function hasMeaning(node) {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  // The result of a comparison function is a sign.
  if (ts.isConditionalExpression(parent)) return !isSign(parent) && !isSign(parent.parent);
  if (ts.isCallExpression(parent)) return ts.isIdentifier(parent.expression);
  if (ts.isBinaryExpression(parent)) {
    return parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken;
  }
  return isConstant(parent) || ts.isArrayLiteralExpression(parent);
}

/** @param {import("typescript").Node} node */
function isSign(node) {
  return ts.isConditionalExpression(node) && node.whenTrue.getText() === "-1";
}

/** @param {import("typescript").Node} node */
function isConstant(node) {
  return ts.isVariableDeclaration(node) && (node.parent.flags & ts.NodeFlags.Const) !== 0;
}

/**
 * @param {import("typescript").Node} node
 * @returns {node is import("typescript").Expression} a number, or a product of numbers
 */
function isNumber(node) {
  if (ts.isNumericLiteral(node)) return true;
  return (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.AsteriskToken &&
    isNumber(node.left) &&
    isNumber(node.right)
  );
}

/**
 * @param {import("typescript").Node} node
 * @returns {node is import("typescript").ArrayLiteralExpression}
 */
function isCheckList(node) {
  return (
    ts.isArrayLiteralExpression(node) &&
    ts.isVariableDeclaration(node.parent) &&
    node.parent.name.getText() === "CHECKS"
  );
}

/**
 * @param {import("typescript").ArrayLiteralExpression} list
 * @param {Change[]} changes
 */
function addChecks(list, changes) {
  for (const node of list.elements)
    changes.push({ node, to: `{ ...${node.getText()}, find: () => [] }` });
}

/**
 * @param {import("typescript").Node} node
 * @param {Change[]} changes
 */
function addPartOfCheck(node, changes) {
  if (ts.isIfStatement(node) && node.elseStatement === undefined) {
    changes.push({ node: node.expression, to: "false" });
  }
  if (ts.isConditionalExpression(node)) {
    const nothing = [node.whenTrue, node.whenFalse].find(isNothing);
    if (nothing !== undefined) changes.push({ node, to: nothing.getText() });
  }
  if (isOneFinding(node)) changes.push({ node, to: "[]" });
}

/** @param {import("typescript").Expression} node */
function isNothing(node) {
  return node.kind === ts.SyntaxKind.NullKeyword || node.getText() === "NOTHING";
}

/**
 * Whether it is returned directly: an `if` or a choice switches its own result off.
 * @param {import("typescript").Node} node
 */
function isOneFinding(node) {
  if (!ts.isArrayLiteralExpression(node) || !ts.isReturnStatement(node.parent)) return false;
  const [only, ...others] = node.elements;
  const isCall = only !== undefined && others.length === 0 && ts.isCallExpression(only);
  const { parent } = node.parent;
  return isCall && !ts.isIfStatement(ts.isBlock(parent) ? parent.parent : parent);
}

/**
 * @param {import("typescript").SourceFile} source
 * @param {Change[]} changes
 * @param {number} firstId
 * @returns {string}
 */
function written(source, changes, firstId) {
  const text = source.getFullText();
  /** @type {Map<import("typescript").Node, number[]>} */
  const byNode = new Map();
  for (const [index, { node }] of changes.entries()) {
    byNode.set(node, [...(byNode.get(node) ?? []), index]);
  }
  /** @param {import("typescript").Node} node @returns {string} */
  const print = (node) => {
    let out = "";
    let at = node.getFullStart();
    ts.forEachChild(node, (child) => {
      if (child.getFullStart() < at) return;
      out += text.slice(at, child.getFullStart()) + print(child);
      at = child.getEnd();
    });
    out += text.slice(at, node.getEnd());
    const indexes = byNode.get(node);
    if (indexes === undefined) return out;
    const lead = text.slice(node.getFullStart(), node.getStart());
    const inner = out.slice(lead.length);
    const wrapped = indexes.reduce((so, index) => {
      const { to } = /** @type {Change} */ (changes[index]);
      return `(mutant(${firstId + index}) ? (${to}) : (${so}))`;
    }, inner);
    return lead + wrapped;
  };
  return print(source) + text.slice(source.getEnd());
}
